"""What carries KV blocks from prefill to decode: a library, the router, and a network card where one is needed."""

from __future__ import annotations

from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Status
from labkit.doctor.runnable import ALL, with_layer
from labkit.doctor.versions import satisfies
from labkit.engines.routers import router_package

_SPLIT = with_layer("pd_split")
_LIBRARIES = {
    "moriio": ("mori", ("amd-mori", "amd-mori-nightly"), "amd-mori"),
    "mori": ("mori", ("amd-mori", "amd-mori-nightly"), "amd-mori"),
    "mooncake": ("mooncake", ("mooncake-transfer-engine",), "mooncake-transfer-engine"),
}
"""Transfer to module, the distributions that have it, and the one to install."""


def library(facts: Facts) -> list[Check]:
    """The transfer's library in the engine's Python; the packages of a CPU profile are compared one by one."""
    vendor, has = facts.profile.machine.vendor, facts.installation
    if vendor == "cpu":
        return []
    module, distributions, package = _library_of(facts)
    there = has is not None and module in has.modules
    version = next((has.packages[name] for name in distributions if name in has.packages), "") if has else ""
    python = has.executable if has else "python3"
    return [
        Check(
            name=f"Transfer library ({module})",
            area="transfer",
            status="unknown" if has is None else "ok" if there else "fail",
            found=facts.unasked
            if has is None
            else f"{module} {version}".strip()
            if there
            else f"no module {module} in {python}",
            why="It moves the KV blocks of a split; arms without the split run without it. "
            + (
                "vLLM's ROCm wheels come without MoRI, its image has it."
                if facts.profile.engine.command == "vllm" and module == "mori"
                else ""
            ),
            todo="" if there or has is None else "Use the profile's image, or install it beside the engine.",
            command="" if there or has is None else f"{python} -m pip install {package}",
            stops=() if there or has is None else _SPLIT,
        )
    ]


def _library_of(facts: Facts) -> tuple[str, tuple[str, ...], str]:
    """vLLM imports NIXL by another name on ROCm (distributed/nixl_utils.py)."""
    transfer = facts.profile.layers.pd_split.transfer
    if transfer == "nixl":
        amd = facts.profile.machine.vendor == "amd"
        return ("nixl_rocm", ("nixl-rocm",), "nixl_rocm") if amd else ("nixl", ("nixl",), "nixl")
    return _LIBRARIES[transfer]


def router(facts: Facts) -> list[Check]:
    """The router that brings requests to both halves, and to replicas."""
    engine, has = facts.profile.engine, facts.installation
    if facts.profile.machine.vendor == "cpu":
        return []
    package, wanted = made_for = router_package(facts.profile)
    version = has.packages.get(package) if has else None
    arms = ALL if engine.replicas > 1 else _SPLIT
    status = _router_status(facts, package, version, wanted)
    install = f"{has.executable if has else 'python3'} -m pip install {made_for.requirement}"
    return [
        Check(
            name="Router",
            area="transfer",
            status=status,
            found=_router_words(facts, package, version, wanted),
            why="Requests of a split, and of replicas, go through it; its flags and its handling of usage change.",
            todo="Install it where the engine is." if status in ("warn", "fail") else "",
            command=install if status in ("warn", "fail") else "",
            stops=arms if status == "fail" else (),
        )
    ]


def _router_status(facts: Facts, package: str, version: str | None, wanted: str) -> Status:
    """A program on PATH that this Python does not know of is somebody else's, and may do."""
    if version:
        return "ok" if satisfies(version, f"=={wanted}") else "warn"
    if package in facts.missing:
        return "fail"
    if facts.installation is None:
        return "unknown"
    return "fail" if facts.profile.engine.command == "sglang" else "warn"  # a module there, a program here


def _router_words(facts: Facts, package: str, version: str | None, wanted: str) -> str:
    made_for = f"; the profiles were made for {wanted}"
    if version:
        return f"{package} {version}" + ("" if satisfies(version, f"=={wanted}") else made_for)
    if facts.profile.engine.command == "sglang":
        return f"no {package} in the engine's Python{made_for}" if facts.installation else facts.unasked
    where = "not on PATH" if package in facts.missing else "on PATH, but not of the engine's Python"
    return f"{package} is {where}{made_for}"


def network(facts: Facts) -> list[Check]:
    """An RDMA network card, where the transfer goes over one."""
    pd = facts.profile.layers.pd_split
    if pd.transfer not in ("moriio", "mori", "mooncake"):
        return []
    backend = (pd.connector.get("kv_connector_extra_config") or {}).get("backend", "rdma")
    backend = backend if pd.transfer == "moriio" else ""
    active = any(up for _, up in facts.node.rdma)
    cards = ", ".join(f"{name} ({'active' if up else 'not active'})" for name, up in facts.node.rdma) or "none"
    fine = active or backend == "xgmi"
    fault = not fine and backend == "rdma"
    return [
        Check(
            name="RDMA network",
            area="transfer",
            status="ok" if fine else "fail" if fault else "unknown",
            found=f"{cards}; the profile {f'names the backend {backend}' if backend else 'names no backend'}",
            why="MoRI-IO's rdma backend wants an RDMA device with an active port, even within one node; xgmi uses the "
            "links between the GPUs.",
            todo='Say backend = "xgmi" in the connector of the profile, or bring a port up.' if fault else "",
            command="rdma link show" if fault else "",
            stops=_SPLIT if fault else (),
        )
    ]
