"""The command line of vllm-router, which makes prefill and decode (or two replicas) one engine."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.engines.plan_records import ProcessSpec
from labkit.engines.profiles import Profile

_MEMORY_BYTES = 256 << 20


def router(profile: Profile, python: str, engines: Sequence[ProcessSpec], *, pd: bool) -> ProcessSpec:
    """The router in front of `engines`. Its own /metrics are not an engine's, so nothing scrapes them."""
    workers = _pd_workers(profile, engines) if pd else ("--worker-urls", *map(_url, engines))
    argv = (
        *((python, "-m", "vllm_router.launch_router") if profile.engine.command == "python" else ("vllm-router",)),
        *workers,
        *("--policy", profile.layers.pd_split.router_policy),
        *("--host", "127.0.0.1", "--port", "{port:router}"),
        *("--prometheus-host", "127.0.0.1", "--prometheus-port", "{port:router-metrics}"),
        *("--worker-startup-check-interval", "1"),
        "--disable-retries",  # a request that failed is counted as failed, not as slow
        *("--log-level", "warning"),  # one line a request otherwise; "warn" is refused
    )
    return ProcessSpec(role="router", argv=argv, env={}, metrics=False, memory_bytes=_MEMORY_BYTES)


def _pd_workers(profile: Profile, engines: Sequence[ProcessSpec]) -> tuple[str, ...]:
    pd = profile.layers.pd_split
    mode = ("--vllm-pd-disaggregation", "--kv-connector", pd.transfer)
    if pd.transfer == "moriio":
        return (*mode, "--vllm-discovery-address", "127.0.0.1:{port:discovery}")
    prefill, decode = engines
    return (*mode, "--prefill", _url(prefill), "--decode", _url(decode))


def _url(engine: ProcessSpec) -> str:
    return f"http://127.0.0.1:{{port:{engine.role}}}"
