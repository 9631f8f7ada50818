"""A comparison as a terminal shows it: what differs, whether requests are the same, then the gains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.format import DASH, missing, plain, seconds, times
from labkit.analysis.same_requests import SameRow
from labkit.experiments.comparison import RunComparison, Side
from labkit.store.fingerprint import Difference

_SHOWN, _LONGEST = 25, 120
_UNITS = {"tokens_per_s": "/s", "prompt_computed": ""}
_METRICS = {
    "e2e_s": "end to end",
    "ttft_s": "TTFT",
    "itl_p99_s": "ITL p99",
    "prompt_computed": "computed tokens",
    "tokens_per_s": "tokens/s",
}


def show(found: RunComparison, console: Console) -> None:
    """Print all of it; the gains last, so that what limits them was read before."""
    for name, side in (("A", found.a), ("B", found.b)):
        console.print(f"{name}: {side.run.id}", highlight=False, soft_wrap=True)
    _differences(console, "Ran on", found.fingerprint, "the same machine, versions and engines")
    _differences(console, "Asked", found.asked, "the same question")
    for said in _requests(found.requests):
        console.print(said, highlight=False, soft_wrap=True)
    for name, side in (("A", found.a), ("B", found.b)):
        _witnesses(console, name, side)
    if found.table.empty:
        console.print("No arm was measured in both runs in the same condition, so there is nothing to compare.")
        return
    console.print("", _gains(found))
    for said, arms in _reasons(found).items():
        every = found.table["arm"].nunique() == len(arms) > 1
        console.print(f"{'every arm' if every else ', '.join(arms)}: {said}", highlight=False, markup=False)


def _differences(console: Console, title: str, differing: Sequence[Difference], none: str) -> None:
    if not differing:
        console.print(f"{title}: {none}.", highlight=False)
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title=f"{title}: what differs")
    table.title_justify, table.title_style = "left", "bold"
    for name in ("what", "A", "B"):
        table.add_column(name, overflow="fold")
    for one in differing[:_SHOWN]:
        table.add_row(one.key, _value(one.a), _value(one.b))
    console.print("", table)
    if len(differing) > _SHOWN:
        console.print(f"and {len(differing) - _SHOWN} more; --json has all of them", highlight=False)


def _value(value: Any) -> Text:
    if isinstance(value, list):
        return Text(", ".join(map(str, value)))
    text = DASH if value is None else str(value)
    return Text(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def _requests(rows: Sequence[SameRow]) -> list[str]:
    """One line for all recordings of which the same is to be said."""
    names: dict[str, list[str]] = {}
    for row in rows:
        said = f"{'paired' if row.same else 'not paired'} ({row.why})"
        names.setdefault(said, []).append(row.recording or "live agents")
    return [f"{', '.join(of)}: {said}" for said, of in names.items()]


def _witnesses(console: Console, name: str, side: Side) -> None:
    """Cold starts that are not confirmed, counters that began again, tasks that were solved."""
    unsure = [one for one in side.cold if one.state != "confirmed"]
    if side.cold:
        console.print(
            f"{name}: {len(side.cold) - len(unsure)} of {len(side.cold)} cold blocks confirmed", highlight=False
        )
    for one in unsure:
        console.print(f"  {one.arm} {one.repeat + 1}: unconfirmed: {one.why}", highlight=False, markup=False)
    for reset in side.resets:
        said = f"  {reset.arm} {reset.repeat + 1}: counters of {reset.role} began again: {reset.why}"
        console.print(said, style="red", highlight=False, markup=False)
    for row in side.solved.to_dict("records"):
        console.print(f"{name}: {row['arm']} solved {row['n_solved']} of {row['n_attempts']}", highlight=False)


def _gains(found: RunComparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("arm", "metric"):
        table.add_column(name, no_wrap=True)
    for name in ("A", "B", "B over A", "95 %", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    for row in found.table.to_dict("records"):
        table.add_row(*(Text(cell) for cell in _row({str(key): value for key, value in row.items()})))
    table.caption = "B over A: above 1 is better on every metric. " + (
        "Paired request by request." if found.table["paired"].all() else "*: not paired, the requests are not the same."
    )
    table.caption_justify = "left"
    return table


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    state = ", ".join(filter(None, (row["arm"], row["condition"], "warm" if row["cache"] == "warm" else "")))
    return (
        state,
        _METRICS[row["metric"]],
        shown(row["a"], row["metric"]),
        shown(row["b"], row["metric"]),
        f"{times(row['gain'])}{'' if row['paired'] else '*'}",
        DASH if missing(row["low"]) else f"{plain(row['low'])}-{plain(row['high'])}",
        f"{row['n_requests']}",
        _head(row["verdict"]),
    )


def _head(verdict: str) -> str:
    """The verdict's own words, without its reason."""
    return re.split("[:;,]", verdict, maxsplit=1)[0]


def _reasons(found: RunComparison) -> dict[str, list[str]]:
    """Whole verdicts of the headline metrics with the arms that they are on, where the head does not say all."""
    reasons: dict[str, list[str]] = {}
    rows = found.table[found.table["headline"]]
    for arm, verdict in zip(rows["arm"], rows["verdict"], strict=True):
        if _head(verdict) != verdict and arm not in reasons.setdefault(verdict, []):
            reasons[verdict].append(arm)
    return reasons


def shown(value: float | None, metric: str) -> str:
    """A value in its metric's own unit."""
    if value is None or missing(value):
        return DASH
    unit = _UNITS.get(metric)
    return seconds(value) if unit is None else f"{plain(value)}{unit}"
