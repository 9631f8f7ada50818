"""A template that rewrites history, as Qwen3's does with reasoning: how many tokens of the common prefix it costs.

The rule is stated in `thinking.jinja`: as soon as there is a newer message of the user, the reasoning of earlier
replies is left out of the prompt, though the cache holds them with it. Counted by an infinite cache; nothing is timed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from labkit.analysis.ceiling import PrefixIndex
from labkit.analysis.tables import typed_frame
from labkit.core.columns import column
from labkit.core.records import Record
from labkit.doctor.prompt_prefix import Render
from labkit.doctor.template import of_template
from labkit.experiments.lessons.counting import Encode, prompt, whole
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import counted, records
from labkit.traffic.recording import RecordedStep, Recording

FORGETS, KEEPS, SILENT = "forgets reasoning", "keeps reasoning", "no reasoning"
THOUGHT_CHARS = 400


@dataclass(frozen=True, kw_only=True)
class TurnRow(Record):
    """One turn under one template."""

    template: str = column("string", "", "what it does with the reasoning of earlier replies")
    turn: int = column("int64", "", "position of the request, from 1")
    prompt: int = column("int64", "tokens", "prompt tokens")
    computed: int = column("int64", "tokens", "of these, what an infinite cache could not have had")
    rewritten: bool = column("bool", "", "the prompt does not begin with what the turn before left in the cache")


def thinking(recording: Recording, chars: int = THOUGHT_CHARS) -> Recording:
    """The recording as a model that reasons would have made it, its thoughts a stand-in.

    Each reply's reasoning is the first `chars` characters of what it had just been told. They are sent back with the
    reply, as an agent must.
    """
    return dataclasses.replace(recording, steps=tuple(_thought(step, chars) for step in recording.steps))


def _thought(step: RecordedStep, chars: int) -> RecordedStep:
    told = str(step.append[-1].get("content") or "")[:chars]
    return dataclasses.replace(step, reply={**step.reply, "reasoning": told})


def templates() -> dict[str, Render]:
    """The template by what it does: forget, or keep."""
    source = (Path(__file__).parent / "thinking.jinja").read_text(encoding="utf-8")
    return {FORGETS: of_template(source), KEEPS: of_template("{%- set keeps = true -%}\n" + source)}


def history_table(recording: Recording, encode: Encode, block_size: int = 32) -> pd.DataFrame:
    """One row per template and turn; columns as TurnRow declares them. `recording`: as it was, without reasoning."""
    thoughtful, renders = thinking(recording), templates()
    told = [(FORGETS, thoughtful), (KEEPS, thoughtful), (SILENT, recording)]
    rows = [
        row for name, each in told for row in _turns(name, each, renders.get(name, renders[KEEPS]), encode, block_size)
    ]
    return typed_frame(TurnRow, rows)


def _turns(template: str, recording: Recording, render: Render, encode: Encode, block_size: int) -> list[TurnRow]:
    index, rows, left = PrefixIndex(block_size), list[TurnRow](), list[int]()
    for number, step in enumerate(recording.steps):
        request = recording.request(number)
        asked = prompt(request, render, encode)
        rows.append(
            TurnRow(
                template=template,
                turn=step.turn,
                prompt=len(asked),
                computed=len(asked) - index.ceiling(asked),
                rewritten=asked[: len(left)] != left,
            )
        )
        left = whole(request, step.reply, render, encode)
        index.add(left[:-1])
    return rows


def sums(table: pd.DataFrame) -> pd.DataFrame:
    """One row per template, in its order: turns, rewritten turns, prompt tokens and those that were to compute."""
    grouped = table.groupby("template", sort=False)
    return grouped.agg(
        turns=("turn", "size"), rewritten=("rewritten", "sum"), prompt=("prompt", "sum"), computed=("computed", "sum")
    ).reset_index()


def costs_more(table: pd.DataFrame) -> Outcome:
    """Whether the template that forgets has more to compute, though its prompts are shorter."""
    by_name = {row["template"]: row for row in records(sums(table))}
    forgets, keeps = by_name[FORGETS], by_name[KEEPS]
    saw = (
        f"the template that forgets had {forgets['computed']:,} prompt tokens to compute and the one that keeps "
        f"{keeps['computed']:,}, of prompts of {forgets['prompt']:,} and {keeps['prompt']:,} tokens; "
        f"it rewrote {forgets['rewritten']} of {counted(forgets['turns'], 'turn')}, the other {keeps['rewritten']}"
    )
    return Outcome(bool(forgets["computed"] > keeps["computed"]), saw)
