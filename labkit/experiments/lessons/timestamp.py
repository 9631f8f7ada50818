"""The timestamp that breaks the prefix: what is asked of the engine, and what the three runs say of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.arms import MIN_PAIRS
from labkit.analysis.format import missing, percent, seconds, times
from labkit.core.paths import state_dir
from labkit.doctor.prompt_prefix import Render, prompt_checks
from labkit.doctor.records import Check
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, listed, records
from labkit.traffic.recording import Recording, named, save
from labkit.traffic.stamped import stamped

CLEAN, FIRST, LAST = "as recorded", "time first", "time last"
NOTHING, ALIKE = 0.05, 0.2
"""A hit rate up to here is as good as none; gains that differ by less are the same on so few steps."""


def variants_of(name: str) -> dict[str, Recording]:
    """The recording as it is, with the time first, and with the time last. Raises UnknownName, BadInput."""
    recording = named(name)
    return {CLEAN: recording, FIRST: stamped(recording, "first"), LAST: stamped(recording, "last")}


def questions(variants: dict[str, Recording], **asked: Any) -> dict[str, dict[str, Any]]:
    """What `replay` is asked for each variant: recorded reply lengths, so that only the prompts differ.

    The changed ones are written as files, since a run is a process of its own; its folder keeps them.
    """
    folder = state_dir() / "recordings"
    files = {name: str(save(each, folder / f"{each.header.name}.jsonl")) for name, each in variants.items()}
    return {name: {**asked, "recording": file, "mode": "pinned"} for name, file in files.items()}


def checks_of(recording: Recording, render: Render | None = None) -> list[Check]:
    """What `labkit doctor --recording` says of its prompts. `render`: the model's template."""
    sent = [recording.request(index) for index in range(len(recording.steps))]
    return prompt_checks(recording.header.name, sent, render)


def in_words(checks: Iterable[Check]) -> str:
    """The checks as text: verdict, what was found, what to do."""
    lines = [line for check in checks for line in (f"{check.name}: {check.status}. {check.found}", check.todo) if line]
    return "\n".join(lines)


def nothing_left(table: pd.DataFrame) -> Outcome:
    """With the time first the cache serves nothing. `table`: `variant_table` of the three."""
    clean, first, _ = _rows(table)
    if missing(first["hit_rate"]) or missing(clean["hit_rate"]):
        return unmeasured("the engine told no cached tokens")
    saw = (
        f"with the time first the cache served {_rate(first)}, and as recorded {_rate(clean)}; "
        f"{first['computed']:,} prompt tokens were computed in place of {clean['computed']:,} "
        f"(n = {counted(first['n'], 'step')} each)"
    )
    return Outcome(first["hit_rate"] <= NOTHING < clean["hit_rate"], saw)


def as_slow_as_base(table: pd.DataFrame, disturbance: str = "") -> Outcome:
    """With the time first the layer is on and gains nothing, and as recorded it gains.

    Both halves need base beside them; too few to tell below MIN_PAIRS pairs. `disturbance`: why no time is to be read.
    """
    clean, first, _ = _rows(table)
    if disturbance:
        return unmeasured(f"{disturbance}, so no time is judged")
    alone = [row["variant"] for row in (clean, first) if missing(row["gain"])]
    if alone:
        return unmeasured(f"base was not measured beside the requests {listed(alone)}")
    saw = f"with the time first {_gain(first)}, and as recorded {_gain(clean)}"
    if min(clean["n_pairs"], first["n_pairs"]) < MIN_PAIRS:
        return Outcome(None, saw)
    return Outcome(bool(abs(first["gain"] - 1) < ALIKE < clean["gain"] - 1), saw)


def repaired(table: pd.DataFrame) -> Outcome:
    """With the time last the cache serves what it serves without any."""
    clean, _, last = _rows(table)
    if missing(last["hit_rate"]) or missing(clean["hit_rate"]):
        return unmeasured("the engine told no cached tokens")
    saw = (
        f"with the time last the cache served {_rate(last)}, and as recorded {_rate(clean)} "
        f"(n = {counted(last['n'], 'step')} each)"
    )
    return Outcome(last["hit_rate"] >= clean["hit_rate"] - NOTHING, saw)


def _rows(table: pd.DataFrame) -> Sequence[dict[str, Any]]:
    by_name = {row["variant"]: row for row in records(table)}
    return [by_name[name] for name in (CLEAN, FIRST, LAST)]


def _rate(row: dict[str, Any]) -> str:
    return f"{percent(row['hit_rate'])} of the prompt tokens (an infinite cache: {percent(row['hit_ceiling'])})"


def _gain(row: dict[str, Any]) -> str:
    """The gain, and the sums over the pairs that it is of."""
    return (
        f"the first token came {times(row['gain'])} as fast as under base ({seconds(row['arm_sum_s'])} against "
        f"{seconds(row['base_sum_s'])}, added up over {counted(row['n_pairs'], 'pair')})"
    )
