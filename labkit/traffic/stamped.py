"""The time told to the model, in the place that breaks the prefix cache and in the one that does not.

first   before the first word of the system prompt, written anew by every request: no request extends the one before
last    after the last word of each request's newest message, and left there: every request still extends the one before

The words are the same in both. Counts that only hold for the requests as they were recorded are left out.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

from labkit.core.chat import Message, Usage
from labkit.core.errors import BadInput
from labkit.traffic.recording import RecordedStep, Recording

Place = Literal["first", "last"]
STEP_S = 7.0
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_NOTES: dict[Place, str] = {
    "first": "the time stands at the start of the system prompt, and each request writes it anew.",
    "last": "the time stands at the end of each request's newest message, and stays there.",
}


def stamped(recording: Recording, place: Place, step_s: float = STEP_S) -> Recording:
    """The same run of an agent that tells the model the time; its name is `<name>-time-<place>`.

    `step_s`: seconds from one request to the next. Raises BadInput for another place, and where the text that the time
    should join is no text: no system prompt, or a message in parts.
    """
    if place not in get_args(Place):
        raise BadInput("place", place, " or ".join(get_args(Place)))
    times = [_words(recording, index * step_s) for index in range(len(recording.steps))]
    change = _first if place == "first" else _last
    steps = tuple(change(recording, index, words) for index, words in enumerate(times))
    header = recording.header
    note = f"{header.note} Changed after it was recorded: {_NOTES[place]}".strip()
    schema = 2 if any(step.rewritten for step in steps) else header.schema
    changed = dataclasses.replace(header, name=f"{header.name}-time-{place}", note=note, schema=schema)
    return Recording(header=changed, steps=steps)


def _words(recording: Recording, after_s: float) -> str:
    created = recording.header.created
    began = datetime.fromisoformat(created) if created else _BEGIN
    return f"It is {began + timedelta(seconds=after_s):%Y-%m-%d %H:%M:%S}."


def _first(recording: Recording, index: int, words: str) -> RecordedStep:
    step, system = recording.steps[index], recording.steps[0].append[0]
    if system.get("role") != "system":
        raise BadInput("first message", system.get("role"), "a system prompt")
    now = {**system, "content": f"{words}\n\n{_text(system)}"}
    if index == 0:
        return dataclasses.replace(step, append=[now, *step.append[1:]], usage=_known(step))
    return dataclasses.replace(step, rewritten={**step.rewritten, "0": now}, usage=_known(step))


def _last(recording: Recording, index: int, words: str) -> RecordedStep:
    step = recording.steps[index]
    newest = {**step.append[-1], "content": f"{_text(step.append[-1])}\n\n{words}"}
    return dataclasses.replace(step, append=[*step.append[:-1], newest], usage=_known(step))


def _text(message: Message) -> str:
    content = message.get("content")
    if not isinstance(content, str):
        raise BadInput(f"content of a {message.get('role')} message", type(content).__name__, "text")
    return content


def _known(step: RecordedStep) -> Usage:
    """The length of the reply, which replays pin; the prompt has another one now."""
    return Usage(completion_tokens=step.usage.completion_tokens)
