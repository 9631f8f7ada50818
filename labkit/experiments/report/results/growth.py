"""How cost grows with an agent's steps: one agent cut after so many of them, and the power that it grows with."""

from __future__ import annotations

from typing import Any

from labkit.analysis.exponents import exponent_table
from labkit.analysis.format import count, percent, plain, seconds, times
from labkit.analysis.growth import growth_table
from labkit.experiments.report.blocks import Block, Grid, Heading, beside
from labkit.experiments.report.english import interval, records
from labkit.experiments.report.material import Material
from labkit.plots.growth import Measure, growth_figure, growth_info

_HEAD = (
    *("arm", "steps", "passes", "prompt sent", "computed", "generated"),
    *("time", "prefill", "computed vs base", "as fast as base"),
)
_EXPONENTS = ("arm", "what grows", "exponent", "95 % interval", "between the last two", "n", "it grows")
_FIGURES: tuple[Measure, ...] = ("prompt_computed", "e2e_s")
_MEASURES = {"prompt_computed": "prompt tokens computed", "e2e_s": "seconds"}
_NOTE = "Means over whole passes; tokens and seconds are sums over a pass, tools left out. Prefill: share of the time."
_GROWS = "Exponent: slope of the log of a sum against the log of the steps; 1 grows in step, 2 with their square."


def growth(material: Material) -> tuple[Block, ...]:
    """Both tables; nothing in a run that cut no agent short."""
    table, exponents = growth_table(material.measured, material.samples), exponent_table(material.measured)
    if table.empty:
        return ()
    infos = [growth_info(table, exponents, measure) for measure in _FIGURES]
    return (
        Heading("Growth with the steps"),
        *beside(infos, growth_figure),
        Grid(_HEAD, tuple(map(_row, records(table))), "A pass of so many steps", _NOTE),
        Grid(_EXPONENTS, tuple(map(_exponent, records(exponents))), "How fast it grows", _GROWS, words=(0, 1, 6)),
    )


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    broken = f" ({row['n_broken']} broken)" if row["n_broken"] else ""
    return (
        row["arm"],
        str(row["steps"]),
        f"{row['n_passes']}{broken}",
        *(count(row[name]) for name in ("prompt_sent", "prompt_computed", "generated")),
        seconds(row["e2e_s"]),
        percent(row["prefill_share"]),
        times(row["computed_vs_base"]),
        times(row["time_vs_base"]),
    )


def _exponent(row: dict[str, Any]) -> tuple[str, ...]:
    n = f"{row['n_units']} ({row['over']})"
    numbers = (plain(row["exponent"]), interval(row), plain(row["last_exponent"]), n)
    return (row["arm"], _MEASURES.get(row["measure"], row["measure"]), *numbers, row["verdict"])
