"""The command line of smg, SGLang's router, which makes prefill and decode (or two replicas) one engine.

It is the successor of sglang-router, with the same options. sglang-router 0.3.2 writes each request anew with the
fields that it knows: `cache_salt` is none of them, so that an arm whose cache a salt should switch off would hit, and
the drafts of a request would not be told. smg hands on what it does not know. Its `consistent_hashing` keeps a session
on one worker, the same in every arm, by the header X-SMG-Routing-Key, which the client sends beside X-Session-Id.
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.engines.plan_records import ProcessSpec
from labkit.engines.profiles import Profile

_MEMORY_BYTES = 256 << 20


def router(profile: Profile, python: str, engines: Sequence[ProcessSpec], *, pd: bool) -> ProcessSpec:
    """The router in front of `engines`. Its own /metrics are not an engine's, so nothing scrapes them."""
    argv = (
        *(python, "-m", "smg.launch_router"),
        *(_pd_workers(engines) if pd else ("--worker-urls", *map(_url, engines))),
        *("--policy", profile.layers.pd_split.router_policy),
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
