"""AIPerf's single numbers of a benchmark: counts, sums, ratios of sums, and rates over its duration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labkit.store.exports.files import known
from labkit.store.exports.requests import Request

Values = Mapping[str, list[Any]]
"""Every metric's values over the requests that have it."""

_SUMS = {
    "total_isl": ("input_sequence_length", "tokens"),
    "total_osl": ("output_sequence_length", "tokens"),
    "total_output_tokens": ("output_token_count", "tokens"),
    "total_reasoning_tokens": ("reasoning_token_count", "tokens"),
    "total_usage_prompt_tokens": ("usage_prompt_tokens", "tokens"),
    "total_usage_completion_tokens": ("usage_completion_tokens", "tokens"),
    "total_usage_prompt_cache_read_tokens": ("usage_prompt_cache_read_tokens", "tokens"),
    "total_spec_decode_steps": ("spec_decode_steps", "count"),
    "total_draft_tokens": ("spec_decode_draft_tokens", "tokens"),
    "total_accepted_draft_tokens": ("spec_decode_accepted_draft_tokens", "tokens"),
}


def single(value: float | None, unit: str) -> dict[str, Any] | None:
    """A number without a distribution: AIPerf keeps it under `avg`."""
    return None if value is None else {"unit": unit, "avg": float(value)}


def counts(requests: Sequence[Request]) -> dict[str, Any]:
    """AIPerf counts whole answers as requests, and names errors only when there are some."""
    if not requests:
        return {}
    failed = sum(request.problem is not None for request in requests)
    values = {
        "request_count": single(len(requests) - failed, "requests"),
        "error_request_count": single(failed or None, "requests"),
        "completed_request_count": single(len(requests), "requests"),
        "request_error_rate": single(100 * failed / len(requests), "%"),
    }
    return known(values)


def totals(values: Values) -> dict[str, Any]:
    """Sums over the requests, and ratios of sums."""
    sums = {name: single(sum(values[of]) if values[of] else None, unit) for name, (of, unit) in _SUMS.items()}
    accepted = _ratio(values, "spec_decode_accepted_draft_tokens", "spec_decode_steps")
    rate = _ratio(values, "spec_decode_accepted_draft_tokens", "spec_decode_draft_tokens")
    hits = _ratio(values, "usage_prompt_cache_read_tokens", "usage_prompt_tokens")
    ratios = {
        "spec_decode_token_weighted_acceptance_length": single(None if accepted is None else 1 + accepted, "ratio"),
        "spec_decode_overall_draft_acceptance_rate": single(None if rate is None else 100 * rate, "%"),
        "overall_usage_prompt_cache_read_pct": single(None if hits is None else 100 * hits, "%"),
    }
    return known({**sums, **ratios})


def _ratio(values: Values, part: str, whole: str) -> float | None:
    """Sum over sum; None unless the same number of requests reported both, since the rest would count as 0."""
    below = sum(values[whole])
    return sum(values[part]) / below if below and len(values[part]) == len(values[whole]) else None


def over_time(requests: Sequence[Request], measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rates of the requests that went well, from their first send to their last response with text."""
    pairs = zip(requests, measured, strict=True)
    answered = [(r.step.t_send, one["request_latency"] / 1e3, one) for r, one in pairs if "request_latency" in one]
    if not answered:
        return {}
    seconds = max(t + latency for t, latency, _ in answered) - min(t for t, _, _ in answered)
    tokens = [one["output_sequence_length"] for *_, one in answered if "output_sequence_length" in one]
    if seconds <= 0:
        return {}
    values = {
        "benchmark_duration": single(seconds, "sec"),
        "request_throughput": single(sum(r.problem is None for r in requests) / seconds, "requests/sec"),
        "output_token_throughput": single(sum(tokens) / seconds if tokens else None, "tokens/sec"),
    }
    return known(values)
