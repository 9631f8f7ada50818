"""What the loop tells its caller: one record a step, one outcome at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from labkit.core.chat import ChatRequest, Message, Reply
from labkit.core.records import Kind

StopReason = Literal["finished", "steps", "tokens", "seconds", "error"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a run ends by itself.

    `steps`: LLM calls in all, the answer included. `tokens`: a step is not begun when its prompt would be longer.
    `seconds`: a step is not begun after this time.
    """

    steps: int = 30
    tokens: int = 6500
    seconds: float = 900.0


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """One tool call and what came of it. `ok`: false when the result is an error that the model can read."""

    name: str
    arguments: dict[str, Any]
    result: str
    ok: bool
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Step:
    """One LLM call. `append`: messages that are new in this request. `t_send`, `t_end`: the clock's readings.

    `gap_s`: end of the reply before to this send, tools included. `reply` is None when the request failed: see `error`.
    """

    turn: int
    kind: Kind
    append: list[Message]
    request: ChatRequest
    t_send: float
    t_end: float
    gap_s: float
    reply: Reply | None = None
    tool: ToolUse | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended. `reached`: the hidden check's verdict, None until it was asked."""

    stop_reason: StopReason
    steps: int
    seconds: float
    answer: str = ""
    reached: bool | None = None
    check_output: str = ""
    isolation: tuple[str, ...] | None = None
    error: str | None = None


OnStep = Callable[[Step], None]


def nobody(_: Step) -> None:
    """Nobody is watching."""
