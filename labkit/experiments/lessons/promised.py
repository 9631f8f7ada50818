"""What a recording promises before anything was measured: how much of its prompts repeats, how much is decoded, and how
much of that could be copied. Pure: a recording in, tables out; what it does not know is null.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.repetition import Repetition, repetition
from labkit.analysis.tables import numbers, share, total_tokens, typed_frame
from labkit.core.chat import Message
from labkit.core.columns import column
from labkit.core.records import Record
from labkit.engines.profiles import Profile
from labkit.traffic.recording import Recording


@dataclass(frozen=True, kw_only=True)
class TurnPromise(Record):
    """One recorded step. Tokens are as the recording counted them; characters and pieces are always there."""

    turn: int = column("int64", "", "position of the step, from 1")
    kind: str = column("string", "", "plan, act, observe, evaluate or answer")
    prompt_tokens: int | None = column("int64", "tokens", "prompt length", nullable=True)
    repeated_tokens: int | None = column(
        "int64", "tokens", "whole blocks of the prompt that the step before has read or written", nullable=True
    )
    output_tokens: int | None = column("int64", "tokens", "reply length", nullable=True)
    prompt_chars: int = column("int64", "chars", "tools and messages of the request")
    repeated_chars: int = column("int64", "chars", "of these, in the request before or its reply")
    output_chars: int = column("int64", "chars", "what the reply says and calls")
    pieces: int = column("int64", "", "words and signs of the reply")
    seen: int = column("int64", "", "of these, what followed the same two pieces before")
    passes: int = column("int64", "", "forward passes that it needs if every draft is right")


@dataclass(frozen=True, kw_only=True)
class Promise(Record):
    """A whole recording, sums over its steps; None: the recording has no token counts."""

    recording: str = column("string", "", "name of the recording")
    steps: int = column("int64", "", "LLM calls")
    last_prompt: int | None = column("int64", "tokens", "length of the last prompt", nullable=True)
    prompt_tokens: int | None = column("int64", "tokens", "prompt tokens of all steps", nullable=True)
    output_tokens: int | None = column("int64", "tokens", "reply tokens of all steps", nullable=True)
    repeated: float | None = column("float64", "", "share of the prompt that repeats, in tokens", nullable=True)
    repeated_text: float | None = column("float64", "", "the same in characters", nullable=True)
    read_per_written: float | None = column("float64", "", "characters read for each that is written", nullable=True)
    copied: float | None = column("float64", "", "share of the replies that could be drafted", nullable=True)
    per_pass: float | None = column("float64", "", "pieces per forward pass if every draft is right", nullable=True)


def promised_by_turn(recording: Recording, profile: Profile, steps: int | None = None) -> pd.DataFrame:
    """One row a step, of the first `steps`; columns as TurnPromise declares them.

    Blocks are the profile's. A step's reply stands in the next prompt, so both repeat; an engine whose own words differ
    from the recorded ones keeps less.
    """
    rows = [_turn(recording, index, profile) for index in range(min(steps or 10**9, len(recording.steps)))]
    return typed_frame(TurnPromise, rows)


def promised(recordings: Sequence[Recording], profile: Profile, steps: int | None = None) -> pd.DataFrame:
    """One row a recording; columns as Promise declares them."""
    return typed_frame(Promise, [_promise(each, promised_by_turn(each, profile, steps)) for each in recordings])


def _promise(recording: Recording, turns: pd.DataFrame) -> Promise:
    prompt, output = numbers(turns, "prompt_tokens"), numbers(turns, "output_tokens")
    return Promise(
        recording=recording.header.name,
        steps=len(turns),
        last_prompt=recording.steps[len(turns) - 1].usage.prompt_tokens,
        prompt_tokens=total_tokens(prompt),
        output_tokens=total_tokens(output),
        repeated=share(numbers(turns, "repeated_tokens"), prompt),
        repeated_text=share(numbers(turns, "repeated_chars"), numbers(turns, "prompt_chars")),
        read_per_written=share(numbers(turns, "prompt_chars"), numbers(turns, "output_chars")),
        copied=share(numbers(turns, "seen"), numbers(turns, "pieces")),
        per_pass=share(numbers(turns, "pieces"), numbers(turns, "passes")),
    )


def _turn(recording: Recording, index: int, profile: Profile) -> TurnPromise:
    step, prompt, reply = recording.steps[index], _prompt(recording, index), text_of(recording.steps[index].reply)
    before = _prompt(recording, index - 1) + text_of(recording.steps[index - 1].reply) if index else ""
    drafted = _repetition(prompt, reply, profile)
    return TurnPromise(
        turn=step.turn,
        kind=step.kind,
        prompt_tokens=step.usage.prompt_tokens,
        repeated_tokens=_repeated(recording, index, block_size(profile)),
        output_tokens=step.usage.completion_tokens,
        prompt_chars=len(prompt),
        repeated_chars=min(len(before), len(prompt)),
        output_chars=len(reply),
        pieces=drafted.pieces,
        seen=drafted.seen,
        passes=drafted.passes,
    )


def _repeated(recording: Recording, index: int, block: int) -> int | None:
    """Whole blocks of the prompt before and its reply, but for the reply's last token, whose KV is never computed."""
    now = recording.steps[index].usage.prompt_tokens
    if now is None:
        return None
    if index == 0:
        return 0
    before = recording.steps[index - 1].usage
    if before.prompt_tokens is None or before.completion_tokens is None:
        return None
    return min(before.prompt_tokens + before.completion_tokens - 1, now - 1) // block * block


def _repetition(prompt: str, reply: str, profile: Profile) -> Repetition:
    """By the drafts that the profile's speculation makes a pass."""
    speculation = profile.layers.speculation
    config = speculation.methods[speculation.default].config
    return repetition(prompt, reply, drafts=int(config["num_speculative_tokens"]))


def block_size(profile: Profile) -> int:
    """Tokens of a KV block: only whole ones are found again. vLLM's own default is 16."""
    size = profile.engine.flags.get("block-size")
    return size if isinstance(size, int) else 16


def _prompt(recording: Recording, index: int) -> str:
    tools = json.dumps(recording.header.tools) if recording.header.tools else ""
    return "\n".join([tools, *(text_of(message) for message in recording.messages(index))]) + "\n"


def text_of(message: Message) -> str:
    """What a message says, and its calls in the form in which a model writes them."""
    content = message.get("content") or ""
    calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
    written = [f'{{"name": "{call.get("name")}", "arguments": {call.get("arguments")}}}' for call in calls]
    words = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return "\n".join(filter(None, [words, *written]))
