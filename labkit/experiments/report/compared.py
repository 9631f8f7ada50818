"""The report of a comparison: what differs between two runs, whether they can be paired, and what B gains over A."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.comparison import ComparisonRow
from labkit.analysis.format import DASH, missing, percent, plain, seconds, times
from labkit.experiments.comparison import RunComparison, Side
from labkit.experiments.report.blocks import (
    Block,
    Code,
    Grid,
    Heading,
    More,
    Pairs,
    Points,
    Section,
    Words,
    drawn,
    either,
)
from labkit.experiments.report.compared_words import abstract, limits, state_name
from labkit.experiments.report.dictionary import columns_grid
from labkit.experiments.report.english import (
    METRIC_NAMES,
    counted,
    interval,
    p_value,
    reasons,
    records,
    sentences,
    shown,
    smallest,
    verdict_head,
)
from labkit.experiments.report.page import Page
from labkit.plots.forest import forest_figure, forest_info
from labkit.plots.frame import unbroken
from labkit.store.fingerprint import Difference

_GAINS = ("arm and metric", "A", "B", "B over A", "95 % interval", "p (Holm)", "n / tasks", "smallest gain", "verdict")
_UNITS = {"tokens_per_s": "tokens/s", "prompt_computed": "tokens"}
_NOTE = (
    "A and B: medians over requests, of computed tokens the mean. B over A: above 1 is better on every metric: less "
    "time, fewer tokens computed, more tokens a second. p after Holm's correction over end to end and time to first "
    "token of all arms; other metrics explore."
)


def comparison_page(found: RunComparison) -> Page:
    """The whole report of a comparison."""
    a, b = found.a.run, found.b.run
    return Page(
        title="What does run B gain over run A?",
        kicker="Agentic Inference Lab · comparison of two runs",
        byline=f"A: {a.id} ({a.info.state}) · B: {b.id} ({b.info.state})",
        abstract=abstract(found),
        sections=(
            Section("differences", "What differs", tuple(_differing(found))),
            Section("requests", "Are the requests the same?", tuple(_requests(found))),
            Section("results", "Results", tuple(_results(found))),
            Section("witnesses", "Cold starts and counters", tuple(_witnesses(found))),
            Section("limits", "Limits", (Points(tuple(limits(found))),)),
            Section("reproduce", "How to reproduce", (Code(f"labkit compare {a.id} {b.id} --out comparison.html"),)),
            Section("columns", "Data dictionary", (More("a row per arm and metric", (columns_grid(ComparisonRow),)),)),
        ),
        footer=f"Written by labkit from the folders of {a.id} and {b.id}. It needs no network to be read.",
    )


def _differing(found: RunComparison) -> Iterator[Block]:
    yield Heading("What they ran on")
    yield _grid(found.fingerprint) or Words("The fingerprints are the same: machine, versions, flags and model.")
    yield Heading("What they were asked")
    yield _grid(found.asked) or Words("Both runs were asked the same.")


def _grid(differing: Sequence[Difference]) -> Grid | None:
    rows = tuple((one.key, shown(one.a), shown(one.b)) for one in differing)
    return Grid(("what", "A", "B"), rows, words=(0, 1, 2)) if rows else None


def _requests(found: RunComparison) -> Iterator[Block]:
    rows = tuple(
        (row.recording or "live agents", "paired" if row.same else "not paired", row.why) for row in found.requests
    )
    if not rows:
        yield Words("Neither run measured a request.", "warn")
        return
    yield Grid(("recording", "", "why"), rows, "Requests of both runs", words=(0, 1, 2))
    if not found.paired:
        yield Words(
            "No request is the same in both runs, so nothing is paired: two groups of tasks are compared.", "warn"
        )


def _results(found: RunComparison) -> Iterator[Block]:
    table = found.table
    if table.empty:
        yield Words("No arm was measured in both runs in the same condition, so there is nothing to compare.", "warn")
    else:
        headline = records(table[table["headline"]])
        yield from _forest(table)
        yield _gains(headline, "What B gains over A: headline metrics", _NOTE)
        yield from _reasons(headline)
        yield More("Other metrics", (_gains(records(table[~table["headline"]]), "Exploring: p not corrected", ""),))
        said = tuple(sentences(table["note"]))
        yield from [Points(said)] if said else []
    yield from _success(found)


def _forest(table: pd.DataFrame) -> tuple[Block, ...]:
    """The headline metrics of the first condition and cache state, which each arm has once."""
    first = table[(table["condition"] == table["condition"].iloc[0]) & (table["cache"] == table["cache"].iloc[0])]
    info = forest_info(first[first["headline"]])
    caption = dataclasses.replace(info.caption, title="What does run B gain over run A?")
    return drawn(dataclasses.replace(info, caption=caption), forest_figure)


def _reasons(rows: list[dict[str, Any]]) -> Iterator[Block]:
    said = reasons(rows, lambda row: f"{row['arm']} ({METRIC_NAMES.get(row['metric'], row['metric'])})")
    if said:
        yield Points(tuple(said))


def _gains(rows: list[dict[str, Any]], caption: str, note: str) -> Grid:
    return Grid(_GAINS, tuple(_row(row) for row in rows), caption, note, words=(0, 8))


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    metric = row["metric"]
    return (
        f"{state_name(row)}, {METRIC_NAMES.get(metric, metric)}",
        _value(row["a"], metric),
        _value(row["b"], metric),
        f"{times(row['gain'])}{'' if row['paired'] else ' (not paired)'}",
        interval(row),
        p_value(row["p_holm"] if row["headline"] else row["p"]),
        f"{row['n_requests']} / {row['n_tasks']}",
        smallest(row["smallest_gain"]),
        unbroken(verdict_head(row["verdict"])),
    )


def _value(value: float | None, metric: str) -> str:
    if value is None or missing(value):
        return DASH
    unit = _UNITS.get(metric)
    return seconds(value) if unit is None else f"{plain(value)} {unit}"


def _success(found: RunComparison) -> Iterator[Block]:
    rows = tuple(
        (name, row["arm"], f"{row['n_solved']} of {row['n_attempts']}", percent(row["success_rate"]),
         seconds(row["attempt_s"]), seconds(row["solved_s"]))
        for name, side in (("A", found.a), ("B", found.b))
        for row in records(side.solved)
    )  # fmt: skip
    if rows:
        yield Heading("Task success")
        head = ("run", "arm", "solved", "share", "time per attempt", "time per solved task")
        yield Grid(head, rows, "Attempts judged by the hidden check", words=(0, 1))


def _witnesses(found: RunComparison) -> Iterator[Block]:
    for name, side in (("A", found.a), ("B", found.b)):
        yield from either([_cold(name, side), _resets(name, side)], f"{name}: no cold pass was measured.")


def _cold(name: str, side: Side) -> Block | None:
    rows = tuple((one.arm, str(one.repeat + 1), one.state, one.why) for one in side.cold)
    sure = sum(one.state == "confirmed" for one in side.cold)
    title = f"{name}: did cold passes begin cold? Confirmed in {sure} of {counted(len(rows), 'block')}"
    return More(title, (Grid(("arm", "block", "", "why"), rows, words=(0, 1, 2, 3)),)) if rows else None


def _resets(name: str, side: Side) -> Block | None:
    found = tuple((f"{name}, {one.arm} {one.repeat + 1}", f"{one.role}: {one.why}") for one in side.resets)
    return Pairs(found) if found else None
