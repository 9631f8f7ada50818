"""Arms side by side: the table that the other parts explain, and the figure of time against base."""

from __future__ import annotations

from typing import Any

from labkit.analysis.format import DASH, count, missing, percent, plain, seconds, seconds_alike, times
from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, Grid, Heading, Words, drawing
from labkit.experiments.report.english import cell, records
from labkit.experiments.report.material import Material, drawable
from labkit.experiments.report.results.by_cache import by_cache
from labkit.plots.arms_overview import arms_overview_figure, arms_overview_info
from labkit.plots.theme import arm_order

_TITLE = "The arms"
_TIMES = (
    "arm",
    "n (failed)",
    "end to end, sum",
    "TTFT p50 / p95",
    "ITL p50 / p99",
    "TPOT p50",
    "as fast as base",
)
_TOKENS = ("arm", "computed / cached", "moved", "hit rate / ceiling", "accepted", "per round")
_TIMES_NOTE = (
    "As fast as base: seconds of base over seconds of the arm, summed over the n requests that both finished; 2x is "
    "twice as fast. ?: fewer than five pairs, too few to tell."
)
_UNPAIRED = "As fast as base: a dash, since no two arms sent the same requests."
_TOKENS_NOTE = (
    "Moved: prompt tokens whose KV was sent from prefill to decode; they are in computed or cached, too. Ceiling: the "
    "hit rate of an infinite cache of whole blocks. Accepted: of the drafted tokens. Per round: tokens per round of "
    "verification."
)


def arms(material: Material) -> tuple[Block, ...]:
    """The table with n and units, and the overview of those arms that the lab knows."""
    if not len(material.measured):
        return Heading(_TITLE), Words("No request came to be measured, so there is nothing to show.", "warn")
    return by_cache(material, _TITLE, lambda part: _part(material, part))


def _part(material: Material, part: Part) -> tuple[Block, ...]:
    table = material.arm_table(part)
    rows, note = records(table), _TIMES_NOTE if material.paired else _UNPAIRED
    tables = (
        Grid(_TIMES, tuple(map(_times, rows)), "Arms side by side: times", _pooled(material, note)),
        Grid(_TOKENS, tuple(map(_tokens, rows)), "Arms side by side: prompt tokens and drafts", _TOKENS_NOTE),
    )
    if "base" not in material.arms or len(material.arms) < 2 or not material.paired:
        return tables
    info = arms_overview_info(drawable(table), arm_order(material.view.arms))
    return drawing(info, arms_overview_figure, info.caption.alt or info.caption.empty), *tables


def _pooled(material: Material, note: str) -> str:
    """The note, and a warning where several conditions share a row."""
    if len(material.conditions) < 2:
        return note
    return f"{note} Pooled over all conditions; the parts below tell them apart."


def _times(row: dict[str, Any]) -> tuple[str, ...]:
    failed = f" ({row['n_failed']})" if row["n_failed"] else ""
    return (
        row["arm"],
        f"{row['n_steps']}{failed}",
        seconds(row["e2e_s"]),
        _pair(row["ttft_p50_s"], row["ttft_p95_s"]),
        _pair(row["itl_p50_s"], row["itl_p99_s"]),
        seconds(row["tpot_p50_s"]),
        _ratio(row),
    )


def _tokens(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["arm"],
        cell((count(row["prompt_computed"]), count(row["prompt_cached"]))),
        count(row["prompt_transferred"]),
        cell((percent(row["hit_rate"]), percent(row["hit_ceiling"]))),
        percent(row["acceptance_rate"]),
        plain(row["acceptance_length"]),
    )


def _pair(*values: float) -> str:
    parts, unit = seconds_alike(*values)
    return f"{cell(parts)} {unit}".strip()


def _ratio(row: dict[str, Any]) -> str:
    if missing(row["ratio_to_base"]):
        return DASH
    return f"{times(row['ratio_to_base'])}{'?' if row['too_few'] else ''} (n {row['n_pairs']})"
