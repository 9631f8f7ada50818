"""What the fake says about a finished request: `usage` and vLLM's `metrics`; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.engines.fake.generation import Step, Token


def usage(prompt: int, cached: int, tokens: Sequence[Token]) -> dict[str, Any]:
    """Token counts. Reasoning is counted only where there is some, as by an engine without a reasoning parser."""
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": len(tokens)}
    counts |= {"total_tokens": prompt + len(tokens), "prompt_tokens_details": {"cached_tokens": cached}}
    reasoning = sum(token.kind == "reasoning" for token in tokens)
    return counts | ({"completion_tokens_details": {"reasoning_tokens": reasoning}} if reasoning else {})


def timings(arrived: float, scheduled: float, events: Sequence[float]) -> dict[str, Any]:
    """Clock seconds to durations in ms; the time to the first token starts when the request is scheduled."""
    return {
        "queue_time_ms": 1000 * (scheduled - arrived),
        "time_to_first_token_ms": 1000 * (events[0] - scheduled),
        "generation_time_ms": 1000 * (events[-1] - events[0]),
    }


def speculation(steps: Sequence[Step], num_spec_tokens: int) -> dict[str, Any]:
    """The `speculative_decoding` block; nothing when there is no speculation."""
    if not num_spec_tokens:
        return {}
    drafts = [step for step in steps if step.drafted]
    counts = {
        "num_spec_steps": len(drafts),
        "num_draft_tokens": sum(step.drafted for step in drafts),
        "num_accepted_draft_tokens": sum(step.accepted for step in drafts),
        "num_spec_tokens": num_spec_tokens,
    }
    return {"speculative_decoding": counts}
