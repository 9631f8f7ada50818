"""What was said in a step, as its event keeps it beside the numbers: the reply, and what was new in the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labkit.core.chat import Message
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class Said(Record):
    """The texts of one step, secrets masked. The first fields are those of its StepRecord, and name it.

    `reply`: the message that the engine sent, as far as it came; None where none did. `append`: messages that were new
    in the request; empty in a replay, whose recording holds them.
    """

    arm: str
    task: str
    agent: str
    repeat: int
    turn: int
    t_send: float
    recording: str = ""
    condition: str = ""
    cache: str = "cold"
    reply: Message | None = None
    append: list[Message] = field(default_factory=list)


def said_in(event: Mapping[str, Any]) -> Said | None:
    """What a step's event holds of it; None when it holds no text, or is no step's that can be read."""
    texts = {name: event[name] for name in ("reply", "append") if event.get(name)}
    if event.get("type") != "step" or not texts:
        return None
    try:
        return Said.from_dict({**event["step"], **texts})
    except (KeyError, TypeError):
        return None
