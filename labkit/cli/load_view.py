"""Runs under load as a terminal shows them: what company costs, and how many agents are served well enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.capacity import CapacityRow, capacity
from labkit.analysis.concurrency import concurrency, windows
from labkit.analysis.format import DASH, count, missing, percent, plain, seconds, seconds_alike, times
from labkit.analysis.goodput import goodput
from labkit.analysis.interference import interference
from labkit.analysis.slo import Slo
from labkit.cli.measuring import ending, say_json
from labkit.experiments.words import slo_of
from labkit.store.runs import Run

Row = dict[str, Any]
_NO_WINDOW = "No window was over."


def show_interference(run: Run, console: Console, *, as_json: bool = False) -> None:
    """The table of `labkit.analysis.interference`, then what every run says last."""
    rows = print_interference(run, console)
    ending(run, console)
    if as_json:
        say_json(run, levels=_plain(rows))


def print_interference(run: Run, console: Console) -> pd.DataFrame:
    """The table alone; returns its rows."""
    steps, spans = run.steps(), windows(run.events())
    rows = interference(steps, run.chunks(), spans)
    console.print(interference_table(rows) if len(rows) else _NO_WINDOW)
    print_in_flight(concurrency(steps, spans), console)
    return rows


def show_capacity(run: Run, console: Console, *, as_json: bool = False) -> None:
    """Every level and the capacity of each arm, then what every run says last."""
    levels, found = print_capacity(run, console)
    ending(run, console)
    if as_json:
        say_json(run, capacity=_plain(found), levels=_plain(levels))


def print_capacity(run: Run, console: Console) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables alone; returns the levels and the capacity of each arm."""
    slo = slo_of(run.info)
    steps, chunks, spans = run.steps(), run.chunks(), windows(run.events())
    levels, found = goodput(steps, chunks, spans, slo), capacity(steps, chunks, spans, slo)
    console.print(levels_table(levels, slo) if len(levels) else _NO_WINDOW)
    print_in_flight(concurrency(steps, spans), console)
    for row in found.to_dict("records"):
        record = CapacityRow.from_dict({str(k): None if missing(v) else v for k, v in row.items()})
        console.print(Text.assemble((record.arm, "bold"), f": {record}"), soft_wrap=True)
    return levels, found


def print_in_flight(histogram: pd.DataFrame, console: Console) -> None:
    """One line per arm: of each load, how much of the time so many requests were in flight."""
    for arm, of_arm in histogram.groupby("arm"):
        loads = []
        for condition, load in of_arm.groupby("condition"):
            seconds = load.groupby("in_flight")["seconds"].sum()
            shares = ", ".join(f"{n}: {percent(of / seconds.sum())}" for n, of in seconds.items())
            loads.append(f"x{str(condition).removeprefix('agents=')} ({shares})")
        console.print(f"in flight, {arm}: {' '.join(loads)}", highlight=False, markup=False, soft_wrap=True)


def _plain(frame: pd.DataFrame) -> Any:
    return json.loads(frame.to_json(orient="records"))


def interference_table(rows: pd.DataFrame) -> Table:
    """One line per arm and level; "not measured" and "too few to tell" are dashes."""
    table = _table("arm", "agents", "TTFT p50", "95 %", "alone", "ITL p50/p99", "95 % of p99", "alone")
    for name in ("stalls", "95 %", "lost", "hits/ceil.", "tok/s", "n"):
        table.add_column(name, justify="right")
    records: list[Row] = rows.to_dict("records")  # type: ignore[assignment]
    for row in records:
        gaps, unit = seconds_alike(row["itl_p50_s"], row["itl_p99_s"])
        table.add_row(
            Text(row["arm"], "bold"),
            str(row["agents"]),
            seconds(row["ttft_p50_s"]),
            _range(row["ttft_low_s"], row["ttft_high_s"], in_seconds=True),
            times(row["ttft_ratio"]),
            f"{'/'.join(gaps)} {unit}",
            _range(row["itl_low_s"], row["itl_high_s"], in_seconds=True),
            times(row["itl_ratio"]),
            plain(row["stalls_per_1000"]),
            _range(row["stalls_low"], row["stalls_high"]),
            percent(row["lost_share"]),
            f"{percent(row['hit_rate'])}/{percent(row['hit_ceiling'])}",
            plain(row["tokens_per_s"]),
            _n(row),
        )
    table.caption, table.caption_justify = _words(records), "left"
    return table


def levels_table(levels: pd.DataFrame, slo: Slo) -> Table:
    """One line per arm and level that was probed, in the order of agents."""
    table = _table("arm", "agents", "good/sent", "share", "95 %", "TTFT p90", "ITL p99", "good/s", "holds")
    records: list[Row] = levels.to_dict("records")  # type: ignore[assignment]
    for row in records:
        table.add_row(
            Text(row["arm"], "bold"),
            str(row["agents"]),
            f"{row['n_good']}/{row['n_sent']}" + (f" ({row['n_failed']} failed)" if row["n_failed"] else ""),
            percent(row["attainment"]),
            f"{percent(row['low'])} to {percent(row['high'])}",
            seconds(row["ttft_p90_s"]),
            seconds(row["itl_p99_s"]),
            plain(row["good_per_s"]),
            "yes" if row["holds"] else "no",
        )
    table.caption, table.caption_justify = f"good: {slo}. 95 %: over requests, agent-runs as clusters.", "left"
    return table


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, justify="left" if name == "arm" else "right")
    return table


def _n(row: Row) -> str:
    failed = f", {count(row['n_failed'])} failed" if row["n_failed"] else ""
    return f"{row['n_sent']} in {row['n_agent_runs']} runs{failed}"


def _range(low: float | None, high: float | None, in_seconds: bool = False) -> str:
    if missing(low) or missing(high):
        return DASH
    if not in_seconds:
        return f"{plain(low)}-{plain(high)}"
    ends, unit = seconds_alike(low, high)
    return f"{'-'.join(ends)} {unit}"


def _words(records: list[Row]) -> str:
    lines = [
        "alone: times that with the fewest agents. stalls: per 1000 tokens. lost: of the time of the streams.",
        *[f"{row['arm']}: a stall is a gap of more than {seconds(row['stall_s'])}." for row in _first(records)],
    ]
    if met := [row for row in records if row["n_stalls"]]:
        shares = ", ".join(
            f"{row['arm']} x{row['agents']} {percent(row['stalls_overlapped'])} ({percent(row['gaps_overlapped'])})"
            for row in met
        )
        lines.append(f"stalls (other gaps) while another agent waited for its first token: {shares}.")
    if any(row["too_few"] for row in records):
        lines.append(f"{DASH} in 95 %: fewer than 5 agent-runs, too few to tell.")
    return "\n".join(lines)


def _first(records: list[Row]) -> list[Row]:
    """One row of each arm."""
    return list({row["arm"]: row for row in records}.values())


PRINTED: dict[str, Callable[[Run, Console], object]] = {
    "interference": print_interference,
    "capacity": print_capacity,
}
"""Experiments whose rows one table of arms would mix up, and what prints theirs."""
