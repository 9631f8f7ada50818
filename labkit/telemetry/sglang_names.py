"""SGLang 0.5.23's series (srt/observability/metrics_collector.py), and what the lab calls them.

Its counters of requests and tokens grow when a request finishes, those of prefill as batches are made. Times are in ms
and sizes in MiB where the name says so; both are brought to s and bytes. A counter with labels of its own is written
from its first increment on. The page is put together from the files of several processes, so that it has no
process_start_time_seconds: how long the start took, in floating point, says whether it is another start.

Not told, so None: tokens that came by transfer, drafted and accepted tokens (gauges of the last batch only; per request
they are in the reply), decode's own time, requests that expired while they waited for a transfer.
"""

from __future__ import annotations

from typing import Final

from labkit.telemetry.series import EngineNames, Series

_MS: Final = 1e-3
_MIB: Final = float(1 << 20)


def _late(name: str, unit: str) -> Series:
    return Series(f"sglang:{name}", unit, born_late=True)


SGLANG: Final = EngineNames(
    prefix="sglang:",
    counts={
        "requests": _late("num_requests_total", "requests"),
        # Every prompt is looked up, with the radix cache switched off, too: then the hits are 0.
        "prefix_queries": Series("sglang:prefill_effective_tokens_total", "tokens"),
        "prefix_hits": Series("sglang:prefill_effective_tokens_total", "tokens", without=(("mode", "input"),)),
        "prompt_tokens": _late("prompt_tokens_total", "tokens"),
        "prompt_computed": Series(
            "sglang:realtime_tokens_total", "tokens", (("mode", "prefill_compute"),), born_late=True
        ),
        "prompt_cached": _late("cached_tokens_total", "tokens"),
        "generation_tokens": _late("generation_tokens_total", "tokens"),
        "preemptions": _late("num_retracted_requests_total", "preemptions"),
        "drafts": Series("sglang:spec_verify_calls_total", "drafts"),
        "transfers": Series("sglang:kv_transfer_total_mb_count", "transfers"),
        "transfer_bytes": Series("sglang:kv_transfer_total_mb_sum", "bytes", scale=_MIB),
        "transfer_failures": Series("sglang:num_transfer_failed_reqs_total", "transfers"),
    },
    times={
        "e2e_s": _late("e2e_request_latency_seconds_sum", "s"),
        "queue_s": _late("queue_time_seconds_sum", "s"),
        "prefill_s": Series("sglang:per_stage_req_latency_seconds_sum", "s", (("stage", "prefill_forward"),)),
        "transfer_s": Series("sglang:kv_transfer_latency_ms_sum", "s", scale=_MS),
    },
    running=Series("sglang:num_running_reqs", "requests"),
    waiting=Series("sglang:num_queue_reqs", "requests"),
    kv_usage=Series("sglang:token_usage", "1"),
    start="sglang:startup_time_seconds",
    blocks=Series("sglang:num_pages", "pages"),
    block_size=Series("sglang:page_size", "tokens"),
)
