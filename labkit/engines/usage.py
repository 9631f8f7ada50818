"""What the engine says about a request: OpenAI `usage` and vLLM's per-request `metrics`, as one Usage record.

`metrics` needs `--enable-per-request-metrics`; its `speculative_decoding` needs `--per-request-spec-decode-metrics`.
vLLM's `time_to_first_token_ms` starts when the request is scheduled, so it is prefill without queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.chat import Usage


def usage_of(usage: Mapping[str, Any] | None, metrics: Mapping[str, Any] | None) -> Usage:
    """The counts and seconds that are there; None for each that is not."""
    usage, metrics = usage or {}, metrics or {}
    speculation = _part(metrics, "speculative_decoding")
    return Usage(
        prompt_tokens=usage.get("prompt_tokens"),
        cached_tokens=_part(usage, "prompt_tokens_details").get("cached_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        reasoning_tokens=_part(usage, "completion_tokens_details").get("reasoning_tokens"),
        drafts=speculation.get("num_spec_steps"),
        drafted_tokens=speculation.get("num_draft_tokens"),
        accepted_tokens=speculation.get("num_accepted_draft_tokens"),
        queue_s=_seconds(metrics.get("queue_time_ms")),
        prefill_s=_seconds(metrics.get("time_to_first_token_ms")),
        decode_s=_seconds(metrics.get("generation_time_ms")),
    )


def _part(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return data.get(key) or {}


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
