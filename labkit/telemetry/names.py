"""vLLM 0.32's series, as they stand on /metrics, and what the lab calls them.

prometheus_client appends `_total` to counters; a histogram is read as its `_count` and `_sum`. Prefix-cache counters
count tokens. Spec-decode series exist only with a speculative config, NIXL's only with that connector.
"""

from __future__ import annotations

from typing import Final

from labkit.telemetry.series import Series

START_TIME: Final = "process_start_time_seconds"
CONFIG: Final = "vllm:cache_config_info"
RUNNING: Final = "vllm:num_requests_running"
WAITING: Final = "vllm:num_requests_waiting"
KV_USAGE: Final = "vllm:kv_cache_usage_perc"
ACCEPTED_PER_POSITION: Final = "vllm:spec_decode_num_accepted_tokens_per_pos_total"

PREFIXES: Final = ("vllm:", "sglang:", START_TIME)
"""Series that are read at all; the rest of the page (HTTP, Python) costs parsing time and is not used."""


def _by_source(source: str) -> Series:
    return Series("vllm:prompt_tokens_by_source_total", "tokens", (("source", source),))


COUNTS: Final[dict[str, Series]] = {
    "requests": Series("vllm:request_success_total", "requests"),
    "prefix_queries": Series("vllm:prefix_cache_queries_total", "tokens"),
    "prefix_hits": Series("vllm:prefix_cache_hits_total", "tokens"),
    "prompt_tokens": Series("vllm:prompt_tokens_total", "tokens"),
    "prompt_computed": _by_source("local_compute"),
    "prompt_cached": _by_source("local_cache_hit"),
    "prompt_transferred": _by_source("external_kv_transfer"),
    "generation_tokens": Series("vllm:generation_tokens_total", "tokens"),
    "preemptions": Series("vllm:num_preemptions_total", "preemptions"),
    "drafts": Series("vllm:spec_decode_num_drafts_total", "drafts"),
    "drafted_tokens": Series("vllm:spec_decode_num_draft_tokens_total", "tokens"),
    "accepted_tokens": Series("vllm:spec_decode_num_accepted_tokens_total", "tokens"),
    "transfers": Series("vllm:nixl_xfer_time_seconds_count", "transfers"),
    "transfer_bytes": Series("vllm:nixl_bytes_transferred_sum", "bytes"),
    "transfer_failures": Series("vllm:nixl_num_failed_transfers_total", "transfers"),
    "transfers_expired": Series("vllm:nixl_num_kv_expired_reqs_total", "requests"),
}
"""Whole numbers that only grow, by the field of Counts that holds their growth."""

TIMES: Final[dict[str, Series]] = {
    "e2e_s": Series("vllm:e2e_request_latency_seconds_sum", "s"),
    "queue_s": Series("vllm:request_queue_time_seconds_sum", "s"),
    "prefill_s": Series("vllm:request_prefill_time_seconds_sum", "s"),
    "decode_s": Series("vllm:request_decode_time_seconds_sum", "s"),
    "transfer_s": Series("vllm:nixl_xfer_time_seconds_sum", "s"),
}
"""Seconds that only grow, summed over finished requests (transfers: over transfers)."""

GAUGES: Final = (Series(RUNNING, "requests"), Series(WAITING, "requests"), Series(KV_USAGE, "1"))
"""What the sampler keeps of a page: running, waiting, KV usage."""
