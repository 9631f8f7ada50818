"""What was said in a trajectory: from the run's events and its recordings, and what an older folder does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from labkit.core.chat import Message
from labkit.core.records import RunInfo
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.dashboard.trajectory.which import Which
from labkit.experiments.kept_recordings import recording_of
from labkit.store.masking import without_said_secrets
from labkit.store.said import Said
from labkit.traffic.recording import Recording, sha256
from labkit.traffic.several import split

GONE = (
    "The recording {name!r} is not in the run's folder, and no recording of this name lies here: what was asked and "
    "answered cannot be shown, only counted."
)
ANOTHER = "The recording {name!r} that lies here is not the one that this run replayed, so its texts are not shown."
NO_REPLIES = (
    "This run was made before replies were kept. Where a reply has the hash of the recorded one, it is that one; what "
    "else the engine said is not known."
)
NO_TEXTS = "This run has kept nothing of what was said: only tokens and times can be shown."
_SENT = ["served", "agent", "t_send", "turn"]


@dataclass(frozen=True, kw_only=True)
class Texts:
    """By turn: what was new in the request, what the engine said, and what the recording has in its place.

    `tools`: the tools that every request offers. `counted`: tokens of the recorded reply. `note`: what is not there,
    and why. All masked.
    """

    tools: list[dict[str, Any]] = field(default_factory=list)
    append: Mapping[int, list[Message]] = field(default_factory=dict)
    replies: Mapping[int, Message] = field(default_factory=dict)
    recorded: Mapping[int, Message] = field(default_factory=dict)
    counted: Mapping[int, int | None] = field(default_factory=dict)
    reached: bool | None = None
    note: str = ""


def texts_of(opened: Opened, which: Which, rows: pd.DataFrame) -> Texts:
    """The texts of the trajectory whose steps are `rows`."""
    said = _said(opened.run.replies(which.agent), rows)
    return _replayed(opened, which, said) if which.recording else _lived(opened, which, rows, said)


def _said(replies: Sequence[Said], rows: pd.DataFrame) -> dict[int, Said]:
    """By turn. A step is known by who sent it when: it may have been sent twice, and once have been thrown away."""
    sent = {(arm, agent, float(t)): int(turn) for arm, agent, t, turn in rows[_SENT].to_numpy().tolist()}
    return {sent[key]: each for each in replies if (key := (each.arm, each.agent, each.t_send)) in sent}


def _replayed(opened: Opened, which: Which, said: Mapping[int, Said]) -> Texts:
    recording = recording_of(opened.run, which.recording)
    replies = {turn: each.reply for turn, each in said.items() if each.reply}
    if recording is None or _is_another(opened.info, recording):
        words = (GONE if recording is None else ANOTHER).format(name=which.recording)
        return Texts(replies=replies, note=words)
    steps = {step.turn: step for step in recording.steps}
    return Texts(
        tools=recording.header.tools,
        append={turn: without_said_secrets(step.append) for turn, step in steps.items()},
        replies=replies,
        recorded={turn: without_said_secrets(step.reply) for turn, step in steps.items()},
        counted={turn: step.usage.completion_tokens for turn, step in steps.items()},
        reached=recording.header.reached,
        note="" if replies else NO_REPLIES,
    )


def _is_another(info: RunInfo, recording: Recording) -> bool:
    """Whether the run's fingerprint has another hash for this name. One with masked secrets differs for that alone."""
    was = (info.fingerprint.get("recordings") or {}).get(recording.header.name)
    return bool(was) and was != sha256(recording) and "masked" not in recording.header.note


def _lived(opened: Opened, which: Which, rows: pd.DataFrame, said: Mapping[int, Said]) -> Texts:
    """A live agent's: kept with its steps; before that was so, in the recording that the attempt made."""
    tools = next((line.get("tools") or [] for line in opened.run.recordings() if line.get("type") == "recording"), [])
    if said:
        append = {turn: each.append for turn, each in said.items()}
        return Texts(tools=tools, append=append, replies={turn: s.reply for turn, s in said.items() if s.reply})
    made = _attempt(opened, which)
    if made is None:
        return Texts(tools=tools, note="" if not len(rows) else NO_TEXTS)
    steps = {step.turn: step for step in made.steps}
    return Texts(
        tools=tools,
        append={turn: without_said_secrets(step.append) for turn, step in steps.items()},
        replies={turn: without_said_secrets(step.reply) for turn, step in steps.items()},
    )


def _attempt(opened: Opened, which: Which) -> Recording | None:
    """The recording of this attempt: they lie in the order in which the attempts were made, one after the other."""
    steps = opened.steps
    mine = steps[(steps["task"] == which.task) & (steps["recording"] == "")]
    keys = mine.assign(repeat=mine["repeat"].astype(str)).drop_duplicates(["arm", "repeat"])[["arm", "repeat"]]
    order = [tuple(key) for key in keys.itertuples(index=False)]
    made = [each for each in split(opened.run.recordings()) if each.header.task == which.task]
    place = order.index((which.arm, which.repeat)) if (which.arm, which.repeat) in order else len(order)
    return made[place] if len(made) == len(order) and place < len(made) else None
