"""Habits that break a prefix, counted: the same recording as several agents would have sent it, by an infinite cache.

No engine and no time: every prompt is tokenized, and the ceiling says how much of it a perfect cache could have had.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from labkit.analysis.format import DASH, percent
from labkit.analysis.routed import Turn, ceilings
from labkit.analysis.tables import typed_frame
from labkit.core.chat import ChatRequest, Message
from labkit.core.columns import column
from labkit.core.records import Record
from labkit.doctor.prompt_diff import first_break
from labkit.doctor.prompt_prefix import Render
from labkit.experiments.lessons.counting import Encode, prompt, whole
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import records
from labkit.traffic.recording import Recording
from labkit.traffic.stamped import stamped


class Sent(NamedTuple):
    """One request, and the reply as the engine generated it."""

    request: ChatRequest
    reply: Message


@dataclass(frozen=True, kw_only=True)
class HabitRow(Record):
    """One habit. Counted, not timed."""

    habit: str = column("string", "", "what an agent does to its requests")
    n: int = column("int64", "", "requests")
    breaks_at: str = column("string", "", "first place where a request stops extending the one before; dash: none")
    prompt: int = column("int64", "tokens", "prompt tokens")
    computed: int = column("int64", "tokens", "of these, what an infinite cache could not have had")
    hit_ceiling: float = column("float64", "", "the rest over the prompt tokens, 0 to 1")


def habits_of(recording: Recording) -> dict[str, list[Sent]]:
    """The requests of each habit, in order; the replies are the recorded ones in all of them."""
    return {
        "none: as recorded": _sent(recording),
        "the time first": _sent(stamped(recording, "first")),
        "the time last": _sent(stamped(recording, "last")),
        "tools in another order": [
            sent._replace(request=_turned(sent.request, number)) for number, sent in enumerate(_sent(recording))
        ],
        "arguments written anew": _sent(recording, [_written_anew(step.reply) for step in recording.steps]),
    }


def habit_table(recording: Recording, render: Render, encode: Encode, block_size: int = 32) -> pd.DataFrame:
    """One row per habit; columns as HabitRow declares them. Raises LabError where the template refuses a request."""
    return typed_frame(
        HabitRow, [_row(name, sent, render, encode, block_size) for name, sent in habits_of(recording).items()]
    )


def turns_of(sent: Sequence[Sent], render: Render, encode: Encode) -> list[Turn]:
    """Each request as tokens, and with its reply."""
    return [(prompt(each.request, render, encode), whole(each.request, each.reply, render, encode)) for each in sent]


def arguments_cost(table: pd.DataFrame) -> Outcome:
    """Whether arguments that are written anew cost less than a time that stands first."""
    by_name = {row["habit"]: row for row in records(table)}
    clean, first, anew = (by_name[name] for name in ("none: as recorded", "the time first", "arguments written anew"))
    saw = (
        f"writing the arguments anew took the ceiling from {percent(clean['hit_ceiling'])} to "
        f"{percent(anew['hit_ceiling'])} ({anew['computed'] - clean['computed']:,} tokens more to compute in "
        f"{anew['n']} requests), the time first to {percent(first['hit_ceiling'])} "
        f"({first['computed'] - clean['computed']:,} more)"
    )
    return Outcome(anew["computed"] < first["computed"], saw)


def _sent(recording: Recording, carried: Sequence[Message] | None = None) -> list[Sent]:
    """`carried`: what later requests say in place of the replies."""
    return [Sent(recording.request(index, carried), step.reply) for index, step in enumerate(recording.steps)]


def _turned(request: ChatRequest, by: int) -> ChatRequest:
    """The same tools, beginning with another one: a dictionary or a set that is walked anew."""
    tools = request.tools or []
    at = by % len(tools) if tools else 0
    return dataclasses.replace(request, tools=[*tools[at:], *tools[:at]] or None)


def _written_anew(reply: Message) -> Message:
    """Arguments parsed and written again without spaces, as JavaScript and many a library do."""
    calls = [
        {**call, "function": {**call["function"], "arguments": _compact(call["function"]["arguments"])}}
        for call in reply.get("tool_calls") or []
    ]
    return {**reply, "tool_calls": calls} if calls else reply


def _compact(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, separators=(",", ":"))
    except ValueError:  # a call that was cut short: nobody can write it anew
        return arguments


def _row(habit: str, sent: Sequence[Sent], render: Render, encode: Encode, block_size: int) -> HabitRow:
    turns = turns_of(sent, render, encode)
    total, found = sum(len(asked) for asked, _ in turns), sum(ceilings(turns, 1, block_size))
    return HabitRow(
        habit=habit,
        n=len(turns),
        breaks_at=_breaks_at(sent),
        prompt=total,
        computed=total - found,
        hit_ceiling=found / total,
    )


def _breaks_at(sent: Sequence[Sent]) -> str:
    """A reply counts as sent with its request: what follows must carry it as it was generated."""
    for before, after in pairwise(sent):
        said = dataclasses.replace(before.request, messages=[*before.request.messages, before.reply])
        if found := first_break(said, after.request):
            return f"{found.where}: {found.cause}" if found.cause else found.where
    return DASH


def turns_cost(table: pd.DataFrame) -> Outcome:
    """Whether each larger number of replicas leaves more to compute. `table`: `routed_table`, fewest replicas first."""
    rows = records(table)
    first, last = rows[0], rows[-1]
    saw = (
        f"with {first['replicas']} replica {first['computed']:,} prompt tokens were to compute, "
        + ", ".join(f"with {row['replicas']} {row['computed']:,}" for row in rows[1:])
        + f"; the ceiling went from {percent(first['hit_ceiling'])} to {percent(last['hit_ceiling'])} "
        f"(n = {first['n']} requests)"
    )
    return Outcome(all(one["computed"] < more["computed"] for one, more in pairwise(rows)), saw)
