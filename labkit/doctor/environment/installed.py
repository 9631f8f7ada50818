"""Is everything there that the profile runs, in the versions that it was made for?"""

from __future__ import annotations

from labkit.doctor.facts import Facts, Package
from labkit.doctor.records import Check, Status
from labkit.doctor.runnable import ALL, with_layer
from labkit.doctor.versions import satisfies

_OF_THE_LAB = ("streamlit", "amdsmi")
_OF_THE_SPLIT = ("nixl", "vllm-router")
_CPU_SYSTEMS = {"Linux": ("x86_64", "AMD64")}


def python(facts: Facts) -> Check:
    """The interpreter that runs the lab."""
    fits = satisfies(facts.python, facts.python_wanted)
    return Check(
        name="Python",
        area="environment",
        status="ok" if fits else "fail",
        found=f"Python {facts.python}; the lab needs {facts.python_wanted}",
        why="The lab, and the CPU engine beside it, are installed for these versions.",
        todo="" if fits else "Make the environment again with a newer Python.",
        command="" if fits else "make setup PYTHON=python3.11",
    )


def platform(facts: Facts) -> Check:
    """The operating system and the kind of processor."""
    found = f"{facts.system} on {facts.machine}"
    ours = facts.profile.engine.command != "python" or facts.machine in _CPU_SYSTEMS.get(facts.system, ())
    return Check(
        name="Platform",
        area="environment",
        status="ok" if ours else "fail",
        found=found,
        why="The CPU engine is a binary for Linux on x86-64.",
        todo="" if ours else "Run the engine on a Linux machine; runs made there open here.",
    )


def packages(facts: Facts) -> list[Check]:
    """Each package that the profile's engine or the lab itself is made of."""
    return [_package(package, facts) for package in facts.packages]


def _package(package: Package, facts: Facts) -> Check:
    status, found = _judged(package)
    return Check(
        name=package.name,
        area="environment",
        status=status,
        found=found,
        why="Flags, metrics and defaults of an engine change between versions: the profiles were made for this one."
        if package.wanted.startswith("==")
        else "The lab calls it.",
        todo="" if status == "ok" else "Install the pinned versions.",
        command="" if status == "ok" else _install(package, facts),
        stops=_stopped(package, facts) if status == "fail" else (),
    )


def _install(package: Package, facts: Facts) -> str:
    """`make setup` makes the environment of the CPU engine; on a GPU node the lab stands beside the image's engine."""
    if facts.profile.machine.vendor == "cpu":
        return "make setup"
    return (
        "pip install /opt/rocm/share/amd_smi"
        if package.name == "amdsmi"
        else f"pip install '{package.name}{package.wanted}'"
    )


def _stopped(package: Package, facts: Facts) -> tuple[str, ...]:
    """What the lab reads or shows with stops no engine; what carries a split stops the arms that have one."""
    if package.name in _OF_THE_LAB:
        return ()
    routed = package.name == "vllm-router" and facts.profile.engine.replicas > 1
    return with_layer("pd_split") if package.name.startswith(_OF_THE_SPLIT) and not routed else ALL


def _judged(package: Package) -> tuple[Status, str]:
    if package.installed is None:
        return "fail", f"not installed; wanted {package.wanted}"
    if satisfies(package.installed, package.wanted):
        return "ok", f"{package.installed}"
    return "warn", f"{package.installed}; the profiles were made for {package.wanted}"


def programs(facts: Facts) -> Check:
    """The programs that a plan runs."""
    there = not facts.missing
    return Check(
        name="Programs",
        area="environment",
        status="ok" if there else "fail",
        found="every program of the plans is on PATH" if there else f"not on PATH: {', '.join(facts.missing)}",
        why="A plan names them; without them no engine of this profile starts.",
        todo="" if there else "Install the engine for your GPU, or take the profile that runs anywhere.",
        command="" if there else "labkit doctor --profile cpu-smollm2",
        stops=tuple(dict.fromkeys(arm for arms in facts.missing.values() for arm in arms)),
    )


def libnuma(facts: Facts) -> Check:
    """The library that vLLM's CPU kernels are linked to."""
    needed = facts.profile.engine.command == "python"
    status: Status = "ok" if facts.libnuma or not needed else "fail"
    return Check(
        name="libnuma",
        area="environment",
        status=status,
        found="libnuma.so.1 loads" if facts.libnuma else "libnuma.so.1 does not load",
        why="vLLM's CPU kernels are linked to it: without it the engine ends at its import.",
        todo="" if status == "ok" else "Install it.",
        command="" if status == "ok" else "sudo apt-get install libnuma1",
    )


def hub_token(facts: Facts) -> Check:
    """Whether there is a token of the Hugging Face hub; never its value."""
    by_hub = facts.profile.model.weights is None
    return Check(
        name="Hub token",
        area="environment",
        status="ok",
        found="one is set; its value is not read" if facts.hub_token else "none is set",
        why="Gated models of the Hugging Face hub need one. "
        + ("This profile's model comes from the hub." if by_hub else "This profile's model needs none."),
    )
