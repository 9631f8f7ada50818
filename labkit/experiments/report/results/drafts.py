"""How well drafts were guessed, by kind of step."""

from __future__ import annotations

from labkit.analysis.acceptance import acceptance_by_kind
from labkit.analysis.format import count, percent, plain
from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, Grid, drawing
from labkit.experiments.report.material import Material, drawable
from labkit.experiments.report.results.by_cache import by_cache
from labkit.plots.acceptance import acceptance_by_kind_figure, acceptance_by_kind_info

_HEAD = ("arm", "kind of step", "requests", "drafted", "accepted", "rate", "tokens per round")


def drafts(material: Material) -> tuple[Block, ...]:
    """Figure and table; nothing in a run without drafts."""
    return by_cache(material, "Speculation", _part)


def _part(part: Part) -> tuple[Block, ...]:
    kinds = acceptance_by_kind(part.steps)
    if not len(kinds):
        return ()
    rows = tuple(
        (row["arm"], row["kind"], count(row["n"]), count(row["drafted"]), count(row["accepted"]), percent(row["rate"]),
         plain(row["length"]))
        for row in kinds.to_dict("records")
    )  # fmt: skip
    info = acceptance_by_kind_info(drawable(part.steps))
    note = (
        "Rates are weighted by tokens. Tokens per round: 1 + accepted / rounds. Requests of pinned length are left out."
    )
    table = Grid(_HEAD, rows, "Acceptance by kind of step", note, words=(0, 1))
    return drawing(info, acceptance_by_kind_figure, info.caption.alt or info.caption.empty), table
