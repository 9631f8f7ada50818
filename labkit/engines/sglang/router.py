"""The command line of sglang-router, which makes prefill and decode (or two replicas) one engine.

Sessions stay where they were with the policy `manual`, by the header X-SMG-Routing-Key that the client sends beside
X-Session-Id. `min_group` gives a new session to the worker that has fewest: the default draws it by lot.
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.engines.plan_records import ProcessSpec
from labkit.engines.profiles import Profile

_MEMORY_BYTES = 256 << 20


def router(profile: Profile, python: str, engines: Sequence[ProcessSpec], *, pd: bool) -> ProcessSpec:
    """The router in front of `engines`. Its own /metrics are not an engine's, so nothing scrapes them."""
    policy = profile.layers.pd_split.router_policy
    argv = (
        *(python, "-m", "sglang_router.launch_router"),
        *(_pd_workers(engines) if pd else ("--worker-urls", *map(_url, engines))),
        *("--policy", policy),
        *(("--assignment-mode", "min_group") if policy == "manual" else ()),
        *("--host", "127.0.0.1", "--port", "{port:router}"),
        *("--prometheus-host", "127.0.0.1", "--prometheus-port", "{port:router-metrics}"),
        *("--worker-startup-check-interval", "1"),
        "--disable-retries",  # a request that failed is counted as failed, not as slow
        "--disable-circuit-breaker",  # ten failures would take a worker away, and the arm with it
        *("--log-level", "warn"),  # vllm-router's parser wants "warning", this one refuses it
    )
    return ProcessSpec(role="router", argv=argv, env={}, metrics=False, memory_bytes=_MEMORY_BYTES)


def _pd_workers(engines: Sequence[ProcessSpec]) -> tuple[str, ...]:
    """Prefill with the port of its bootstrap server, where decode learns which ranks to ask for KV."""
    prefill, decode = engines
    return ("--pd-disaggregation", "--prefill", _url(prefill), "{port:bootstrap}", "--decode", _url(decode))


def _url(engine: ProcessSpec) -> str:
    return f"http://127.0.0.1:{{port:{engine.role}}}"
