"""Names and values in OTLP/JSON's typed form; a value that was not measured has no attribute.

Names under `gen_ai.` and `error.` are the semantic conventions': those of 1.41, the last release with GenAI in it, that
GenAI's own first release kept (status: development). What they have no word for is under `labkit.`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.records import StepRecord
from labkit.store.exports.requests import Request

_OWN = (
    "arm", "agent", "task", "recording", "condition", "cache", "repeat", "turn", "kind", "warmup", "mode", "history",
    "switched_by", "engine", "queue_s", "prefill_s", "transfer_s", "decode_s", "send_lag_s", "ceiling_tokens",
    "transferred_tokens", "drafts", "drafted_tokens", "accepted_tokens",
)  # fmt: skip
"""Fields of a step that keep their name under `labkit.`."""


def attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """OTLP's key-value list of the values that are there."""
    return [{"key": key, "value": _typed(value)} for key, value in values.items() if value is not None and value != ""]


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_typed(item) for item in value]}}
    return {"stringValue": str(value)}


def chat_attributes(request: Request, provider: str, model: str | None, conversation: str) -> dict[str, Any]:
    """What the conventions and the lab say of one LLM call."""
    step = request.step
    ttft = None if step.t_first_token is None else step.t_first_token - step.t_send
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.request.stream": True,
        "gen_ai.conversation.id": conversation,
        "gen_ai.response.finish_reasons": None if step.finish_reason is None else [step.finish_reason],
        "gen_ai.response.time_to_first_chunk": ttft,
        "gen_ai.usage.input_tokens": step.prompt_tokens,
        "gen_ai.usage.output_tokens": step.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": step.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": step.reasoning_tokens,
        "error.type": error_type(request),
        **{f"labkit.{name}": getattr(step, name) for name in _OWN},
    }


def error_type(request: Request) -> str | None:
    """The HTTP status, else `_OTHER`, for the conventions want few different values; None when it went well."""
    if request.problem is None:
        return None
    return str(request.http_status) if request.http_status else "_OTHER"


def agent_attributes(step: StepRecord, provider: str, model: str | None, conversation: str) -> dict[str, Any]:
    """What the conventions and the lab say of a whole pass; `step` is any of it."""
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.conversation.id": conversation,
        "gen_ai.agent.name": f"agent {step.agent}",
        **{f"labkit.{name}": getattr(step, name) for name in _OWN[: _OWN.index("turn")]},
        "labkit.warmup": step.warmup,
    }


def tool_attributes(step: StepRecord, slept: bool) -> dict[str, Any]:
    """What the conventions and the lab say of a tool's run. `slept`: its recorded time was waited for instead."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step.tool_name,
        "gen_ai.tool.type": "function",
        "labkit.turn": step.turn,
        "labkit.tool.result_bytes": step.tool_bytes,
        "labkit.tool.slept": slept,
    }
