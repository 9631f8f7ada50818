"""Agents in company: what it costs each of them, and how many are served well enough."""

from __future__ import annotations

from typing import Any

from labkit.analysis.capacity import CapacityRow, capacity
from labkit.analysis.format import DASH, missing, percent, plain, seconds, times
from labkit.analysis.goodput import goodput
from labkit.analysis.interference import interference
from labkit.analysis.slo import Slo
from labkit.analysis.stalls import alone
from labkit.experiments.report.blocks import Block, Drawing, Grid, Heading, Points, beside, drawn
from labkit.experiments.report.english import records
from labkit.experiments.report.material import Material
from labkit.experiments.words import slo_of
from labkit.plots.capacity import capacity_figure, capacity_info
from labkit.plots.interference import timeline_figure, timeline_info
from labkit.plots.load_lines import Measure, load_figure, load_info

_MEASURES: tuple[Measure, ...] = ("ttft", "itl", "stalls", "tokens")
_COMPANY = (
    *("arm", "agents", "n (runs)", "TTFT p50", "95 % interval", "vs alone"),
    *("ITL p99", "95 % interval", "vs alone", "stalls", "tokens/s"),
)
_LEVELS = ("arm", "agents", "good / sent", "share", "95 % interval", "TTFT p90", "ITL p99", "good per s", "holds")
_COMPANY_NOTE = (
    "Intervals over agent-runs; a dash: fewer than five, too few to tell. Vs alone: times that of the fewest agents. "
    "Stalls: per 1000 tokens; a gap of more than three times the arm's own median gap with the fewest agents."
)


def company(material: Material) -> tuple[Block, ...]:
    """What company costs: lines over agents, the moment a prompt arrives, and the table. Nothing without windows."""
    spans = material.windows
    if not len(spans):
        return ()
    rows = interference(material.steps, material.chunks, spans)
    lines = [load_info(rows, measure) for measure in _MEASURES]
    grid = Grid(_COMPANY, tuple(map(_company, records(rows))), "What company costs an agent", _COMPANY_NOTE)
    return Heading("Agents in company"), *beside(lines, load_figure), *_moment(material), grid


def _moment(material: Material) -> tuple[Drawing, ...]:
    """The clearest moment under the heaviest load that was measured."""
    spans = material.windows
    most = int(spans["agents"].max())
    info = timeline_info(material.drawable, material.chunks, alone(material.chunks, spans), most)
    return drawn(info, timeline_figure)


def _company(row: dict[str, Any]) -> tuple[str, ...]:
    failed = f", {row['n_failed']} failed" if row["n_failed"] else ""
    return (
        row["arm"],
        str(row["agents"]),
        f"{row['n_sent']} ({row['n_agent_runs']}{failed})",
        seconds(row["ttft_p50_s"]),
        _span(row["ttft_low_s"], row["ttft_high_s"]),
        times(row["ttft_ratio"]),
        seconds(row["itl_p99_s"]),
        _span(row["itl_low_s"], row["itl_high_s"]),
        times(row["itl_ratio"]),
        plain(row["stalls_per_1000"]),
        plain(row["tokens_per_s"]),
    )


def _span(low: float | None, high: float | None) -> str:
    return DASH if missing(low) else f"{seconds(low)} to {seconds(high)}"


def held(material: Material) -> tuple[Block, ...]:
    """How many agents keep the objective; only where a run was asked about one."""
    spans = material.windows
    if not len(spans) or material.info.experiment != "capacity":
        return ()
    slo = slo_of(material.info)
    levels, found = (of(material.steps, material.chunks, spans, slo) for of in (goodput, capacity))
    figure = drawn(capacity_info(levels, found, slo), capacity_figure)
    grid = Grid(
        _LEVELS, tuple(map(_level, records(levels))), f"Served well enough: {slo}", "95 %: agent-runs as clusters."
    )
    return Heading("Capacity"), Points(tuple(f"{said}." for said in capacities(material)[0])), *figure, grid


def capacities(material: Material) -> tuple[list[str], Slo | None]:
    """Each arm's capacity in words, and the objective; none where a run was not asked about one."""
    if not len(material.windows) or material.info.experiment != "capacity":
        return [], None
    slo = slo_of(material.info)
    return list(map(_capacity, records(capacity(material.steps, material.chunks, material.windows, slo)))), slo


def _capacity(row: dict[str, Any]) -> str:
    record = CapacityRow.from_dict({name: None if missing(value) else value for name, value in row.items()})
    return f"{record.arm}: {record}"


def _level(row: dict[str, Any]) -> tuple[str, ...]:
    failed = f" ({row['n_failed']} failed)" if row["n_failed"] else ""
    return (
        row["arm"],
        str(row["agents"]),
        f"{row['n_good']} / {row['n_sent']}{failed}",
        percent(row["attainment"]),
        f"{percent(row['low'])} to {percent(row['high'])}",
        seconds(row["ttft_p90_s"]),
        seconds(row["itl_p99_s"]),
        plain(row["good_per_s"]),
        "yes" if row["holds"] else "no",
    )
