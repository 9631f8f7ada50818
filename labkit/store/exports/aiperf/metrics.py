"""One request's numbers by AIPerf's definitions, which are not all the lab's.

- A response counts when it carries text. vLLM's events with token ids alone (`held`) do not, so `time_to_first_token`
  is later here than the lab's, which is added as `labkit_time_to_first_token`.
- `request_latency` ends with the last such response, not with the end of the stream (`labkit_request_duration`).
- `inter_token_latency` = (request latency - TTFT) / (output tokens - tokens of the first response); where the tokens of
  the first response are unknown or cannot be, one is taken.
- `inter_chunk_latency` is the list of gaps between responses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labkit.core.records import StepRecord
from labkit.store.exports.requests import Request
from labkit.store.exports.streams import Stream

UNITS = {
    "request_latency": "ms",
    "time_to_first_token": "ms",
    "time_to_second_token": "ms",
    "time_to_first_output_token": "ms",
    "inter_token_latency": "ms",
    "inter_chunk_latency": "ms",
    "decode_duration": "ms",
    "output_token_throughput_per_user": "tokens/sec/user",
    "e2e_output_token_throughput": "tokens/sec/user",
    "prefill_throughput_per_user": "tokens/sec/user",
    "input_sequence_length": "tokens",
    "output_sequence_length": "tokens",
    "output_token_count": "tokens",
    "reasoning_token_count": "tokens",
    "error_isl": "tokens",
    "usage_prompt_tokens": "tokens",
    "usage_completion_tokens": "tokens",
    "usage_reasoning_tokens": "tokens",
    "usage_prompt_cache_read_tokens": "tokens",
    "spec_decode_steps": "count",
    "spec_decode_draft_tokens": "tokens",
    "spec_decode_accepted_draft_tokens": "tokens",
    "spec_decode_acceptance_length": "ratio",
    "spec_decode_draft_acceptance_rate": "%",
    "labkit_time_to_first_token": "ms",
    "labkit_request_duration": "ms",
}
"""Every metric that is written, with AIPerf's unit for it."""


def metrics_of(request: Request) -> dict[str, Any]:
    """Values by metric, in the units of UNITS; what was not measured is absent. A failed request has no times."""
    step = request.step
    if request.problem:
        return _known({"error_isl": step.prompt_tokens})
    times = _times(step, request.stream)
    return _known({**times, **_rates(step, times), **_tokens(step), **_speculation(step), **_own(step)})


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _times(step: StepRecord, stream: Stream) -> dict[str, Any]:
    """Milliseconds from the responses; from the step's own times where no chunks were kept."""
    responses = stream.t[stream.text]
    if not len(stream.t):
        ends = [step.t_first_token, step.t_last]
        responses = np.array([t for t in ends if t is not None]) if None not in ends else np.array([])
    if not len(responses):
        return {}
    since = (responses - step.t_send) * 1e3
    gaps = np.diff(since).tolist() if len(stream.t) else []
    output = stream.t[stream.output]
    return {
        "request_latency": float(since[-1]),
        "time_to_first_token": float(since[0]),
        "time_to_second_token": gaps[0] if gaps else None,
        "time_to_first_output_token": float(output[0] - step.t_send) * 1e3 if len(output) else None,
        "inter_chunk_latency": gaps or None,
        "decode_duration": float(since[-1] - since[0]),
        "inter_token_latency": _per_token(float(since[-1] - since[0]), step.completion_tokens, stream),
    }


def _per_token(decode_ms: float, tokens: int | None, stream: Stream) -> float | None:
    if tokens is None or tokens < 2:
        return None
    first = _first_tokens(stream)
    return decode_ms / (tokens - first if first is not None and 0 < first < tokens else tokens - 1)


def _first_tokens(stream: Stream) -> float | None:
    """Tokens that had come by the first response with text, as usage in each chunk would have said; None: unknown."""
    if not stream.text.any():
        return None
    so_far = stream.tokens[: int(stream.text.argmax()) + 1].sum()
    return None if np.isnan(so_far) else float(so_far)


def _rates(step: StepRecord, times: dict[str, Any]) -> dict[str, Any]:
    return {
        "output_token_throughput_per_user": _over(1e3, times.get("inter_token_latency")),
        "e2e_output_token_throughput": _over(step.completion_tokens, times.get("request_latency"), 1e3),
        "prefill_throughput_per_user": _over(step.prompt_tokens, times.get("time_to_first_token"), 1e3),
    }


def _over(part: float | None, whole: float | None, scale: float = 1.0) -> float | None:
    return part / whole * scale if part is not None and whole else None


def _tokens(step: StepRecord) -> dict[str, Any]:
    text = None if step.completion_tokens is None else max(0, step.completion_tokens - (step.reasoning_tokens or 0))
    return {
        "input_sequence_length": step.prompt_tokens,
        "output_sequence_length": step.completion_tokens,
        "output_token_count": text,
        "reasoning_token_count": step.reasoning_tokens,
        "usage_prompt_tokens": step.prompt_tokens,
        "usage_completion_tokens": step.completion_tokens,
        "usage_reasoning_tokens": step.reasoning_tokens,
        "usage_prompt_cache_read_tokens": step.cached_tokens,
    }


def _speculation(step: StepRecord) -> dict[str, Any]:
    extra = _over(step.accepted_tokens, step.drafts)
    return {
        "spec_decode_steps": step.drafts,
        "spec_decode_draft_tokens": step.drafted_tokens,
        "spec_decode_accepted_draft_tokens": step.accepted_tokens,
        "spec_decode_acceptance_length": None if extra is None else 1 + extra,
        "spec_decode_draft_acceptance_rate": _over(step.accepted_tokens, step.drafted_tokens, 100.0),
    }


def _own(step: StepRecord) -> dict[str, Any]:
    """The lab's own TTFT (any generated token) and duration (to the end of the stream)."""
    since = {"labkit_time_to_first_token": step.t_first_token, "labkit_request_duration": step.t_end}
    return {name: None if t is None else (t - step.t_send) * 1e3 for name, t in since.items()}
