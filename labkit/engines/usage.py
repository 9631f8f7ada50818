"""What the engine says about a request: OpenAI `usage` and vLLM's per-request `metrics`, as one Usage record.

`metrics` needs `--enable-per-request-metrics`; its `speculative_decoding` needs `--per-request-spec-decode-metrics`.
vLLM's `time_to_first_token_ms` starts when the request is scheduled, so it is prefill without queue. SGLang tells
`cached_tokens` with `--enable-cache-report`, drafts under `sglext.spec_tokens_details` when they are asked for, and no
times of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.chat import Usage


def usage_of(
    usage: Mapping[str, Any] | None, metrics: Mapping[str, Any] | None, sglext: Mapping[str, Any] | None = None
) -> Usage:
    """The counts and seconds that are there; None for each that is not."""
    usage, metrics = usage or {}, metrics or {}
    drafts, drafted, accepted = _drafts(metrics, sglext or {})
    return Usage(
        prompt_tokens=usage.get("prompt_tokens"),
        cached_tokens=_part(usage, "prompt_tokens_details").get("cached_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        reasoning_tokens=_part(usage, "completion_tokens_details").get("reasoning_tokens"),
        drafts=drafts,
        drafted_tokens=drafted,
        accepted_tokens=accepted,
        queue_s=_seconds(metrics.get("queue_time_ms")),
        prefill_s=_seconds(metrics.get("time_to_first_token_ms")),
        decode_s=_seconds(metrics.get("generation_time_ms")),
    )


_VLLM_DRAFTS = ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")
_SGLANG_DRAFTS = ("spec_verify_ct", "spec_num_proposed_drafts", "spec_num_correct_drafts")


def _drafts(metrics: Mapping[str, Any], sglext: Mapping[str, Any]) -> tuple[int | None, ...]:
    """Verified drafts, tokens in them, tokens accepted; the bonus token of a step is in none of them."""
    told = _part(sglext, "spec_tokens_details")
    names, part = (_SGLANG_DRAFTS, told) if told else (_VLLM_DRAFTS, _part(metrics, "speculative_decoding"))
    return tuple(part.get(name) for name in names)


def _part(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return data.get(key) or {}


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
