"""What fewer tasks and repeats of the same run would have told: an arm's verdict, as data is thrown away.

Nothing is measured again. The first tasks by name are kept, and what is said of them is made by the code that says it
of the whole run; so are the starts of engines that are left to tell how much starts differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from labkit.analysis.effects import arm_gains
from labkit.analysis.format import DASH, missing, times
from labkit.analysis.tables import typed_frame
from labkit.core.records import ChunkRecord
from labkit.experiments.dashboard.compare.gain_words import is_told, why_untold
from labkit.experiments.lessons.expected import row_of
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import counted, interval, records, smallest, verdict_head
from labkit.plots.forest import ForestInfo, ForestMark, ForestPanel
from labkit.plots.frame import Caption
from labkit.plots.labels import METRIC_WORDS

TITLE = "What would fewer tasks and repeats have told?"
_EACH = 6
"""Up to so many tasks every number of them is a row."""


def fewer(steps: pd.DataFrame, arm: str, metric: str = "e2e_s") -> pd.DataFrame:
    """One row for each number of tasks, then one for each smaller number of repeats of all tasks.

    Columns tasks, repeats, and those of ArmGainRow. `steps`: those that count, of all arms, since all of them tell how
    much starts differ. `metric`: one of whole steps, such as e2e_s or ttft_s. Empty where the arm was not sent a step.
    """
    names, every = sorted(map(str, steps["task"].unique())), sorted(map(int, steps["repeat"].unique()))
    kept = [(n, len(every)) for n in _numbers(len(names))]
    kept += [(len(names), n) for n in range(len(every) - 1, 0, -1)]
    found = []
    for tasks, repeats in kept:
        left = steps[steps["task"].isin(names[:tasks]) & steps["repeat"].isin(every[:repeats])]
        row = row_of(arm_gains(left, typed_frame(ChunkRecord, [])), arm, metric)
        found += [{"tasks": tasks, "repeats": repeats, **row}] if row is not None else []
    return pd.DataFrame(found)


def _numbers(tasks: int) -> Iterator[int]:
    yield from range(1, min(tasks, _EACH) + 1)
    if tasks > _EACH:
        yield tasks


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `fewer` as they are read."""
    return pd.DataFrame(
        [
            {
                "tasks": row["tasks"],
                "repeats": row["repeats"],
                "gain": times(row["gain"]),
                "95 % interval": interval(row),
                "shows from": smallest(row["smallest_gain"]),
                "verdict": verdict_head(row["verdict"]),
                "why": row["verdict"].removeprefix(verdict_head(row["verdict"])).lstrip(":;, ") or DASH,
            }
            for row in records(table)
        ]
    )


def fewer_info(table: pd.DataFrame, arm: str) -> ForestInfo:
    """The rows of `fewer` for `labkit.plots.forest.forest_figure`: a mark a row, faint where there is no verdict."""
    rows = [row for row in records(table) if not missing(row["gain"])]
    if not rows:
        return ForestInfo(caption=Caption(title=TITLE, empty=f"{arm} and base have no request in common."), panels=())
    marks = tuple(_mark(row, arm) for row in rows)
    title = f"{METRIC_WORDS.get(rows[0]['metric'], rows[0]['metric'])}, {arm} against base"
    said = "; ".join(f"{mark.label}: {mark.text} ({mark.verdict})" for mark in marks)
    most = max(int(row["n_requests"]) for row in rows)
    note = f"n = {counted(most, 'request')} where all tasks are kept. Line: 95 % interval. Faint: too few to tell."
    panel = ForestPanel(metric=rows[0]["metric"], title=title, marks=marks)
    return ForestInfo(caption=Caption(title=TITLE, note=note, alt=f"Gains, above 1 is better. {said}"), panels=(panel,))


def _mark(row: dict[str, Any], arm: str) -> ForestMark:
    return ForestMark(
        label=f"{counted(int(row['tasks']), 'task')}, {counted(int(row['repeats']), 'repeat')}",
        arm=arm,
        **{name: None if missing(row[name]) else float(row[name]) for name in ("gain", "low", "high")},
        told=is_told(row),
        verdict=str(row["verdict"]),
    )


def told_from(table: pd.DataFrame) -> Outcome:
    """Whether the whole run has a verdict that one repeat of all its tasks has not, and from how many tasks on."""
    rows = records(table)
    if not rows:
        return Outcome(None, "no request was measured in both arms")
    most = max(int(row["repeats"]) for row in rows)
    every = [row for row in rows if row["repeats"] == most]
    tasks, repeats = counted(int(every[-1]["tasks"]), "task"), counted(most, "repeat")
    if not is_told(every[-1]):
        return Outcome(None, f"no verdict comes of {tasks} with {repeats}, since {why_untold(every[-1])}")
    first = next(row for row in every if is_told(row))
    once = next(row for row in rows if row["repeats"] == 1 and row["tasks"] == every[-1]["tasks"])
    alone = "there is one" if is_told(once) else "there is none"
    saw = f"with {repeats} there is a verdict from {counted(int(first['tasks']), 'task')} on"
    return Outcome(not is_told(once), f"{saw}, and with 1 repeat of {tasks} {alone}")


def half_is_wider(table: pd.DataFrame) -> Outcome:
    """Whether the interval of one repeat of all tasks is wider than that of all repeats, on the log scale.

    It need not be: what two starts of an engine differ by is in the interval from two repeats on alone.
    """
    rows = records(table)
    if not rows:
        return Outcome(None, "no request was measured in both arms")
    every = [row for row in rows if row["tasks"] == max(each["tasks"] for each in rows) and not missing(row["low"])]
    once, most = (next((row for row in every if row["repeats"] == n), None) for n in (1, table["repeats"].max()))
    if once is None or most is None or once is most:
        return Outcome(None, "the run has no interval of one repeat beside one of several")
    whole, half = (math.log(row["high"] / row["low"]) for row in (most, once))
    repeats = counted(int(most["repeats"]), "repeat")
    saw = f"the interval of one repeat is {interval(once)} and that of {repeats} {interval(most)}"
    if half > whole:
        return Outcome(True, saw)
    return Outcome(
        False, f"{saw}, as one repeat cannot show what starts of an engine differ by: that is not in its interval"
    )
