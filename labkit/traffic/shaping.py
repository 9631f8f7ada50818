"""What a replayed request is: the recorded one, salted, and pinned when only time is asked about.

*Natural*: everything as recorded; the engine stops where it wants to. *Pinned*: exactly as many tokens as were recorded
(`ignore_eos`), so that arms do the same work. Forcing tokens past the end breaks a grammar, so pinned requests go
without one: no structured output, and `tool_choice: none` (the tools stay in the prompt, the text stays unparsed). The
text of a pinned step is therefore good for time and for nothing else: not for acceptance, not for success.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from labkit.core.chat import ChatRequest, Message
from labkit.core.errors import BadInput
from labkit.traffic.recording import RecordedStep, Recording

Mode = Literal["natural", "pinned"]
GRAMMAR_FIELDS = frozenset(
    {"response_format", "structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar"}
)
"""Request fields that make the engine constrain its output."""


def shaped(request: ChatRequest, step: RecordedStep, mode: Mode, salt: str) -> ChatRequest:
    """`request` under this salt, pinned to the length of `step` when asked. Raises BadInput."""
    salted = dataclasses.replace(request, cache_salt=salt)
    if mode == "natural":
        return salted
    return dataclasses.replace(
        salted,
        max_tokens=pinned_length(step),
        ignore_eos=True,
        tool_choice="none" if request.tools else None,
        extra=_without_grammar(request.extra),
    )


def pinned_length(step: RecordedStep) -> int:
    """The recorded completion length in tokens. Raises BadInput when the recording does not know it."""
    length = step.usage.completion_tokens
    if not length:
        field = f"mode of turn {step.turn}"
        raise BadInput(field, "pinned", "natural: the recording has no completion length", "Use: --mode natural")
    return length


def check_pinnable(recording: Recording, steps: int) -> None:
    """Raises BadInput when one of the first `steps` steps has no recorded length: before anything is sent."""
    for step in recording.steps[:steps]:
        pinned_length(step)


def _without_grammar(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in extra.items() if key not in GRAMMAR_FIELDS}


def live_reply(generated: Message, recorded: Message) -> Message:
    """The engine's own message as history, its tool calls renamed so that the recorded tool results still find them."""
    calls, ids = generated.get("tool_calls"), [call.get("id") for call in recorded.get("tool_calls") or []]
    if not calls:
        return generated
    renamed = [{**call, "id": ids[n]} if n < len(ids) else call for n, call in enumerate(calls)]
    return {**generated, "tool_calls": renamed}
