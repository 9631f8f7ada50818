"""Effects of the layers, alone and together, and of each arm against base: gains with intervals, n and a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from labkit.analysis.format import times
from labkit.experiments.report.blocks import Block, Grid, Heading, More, Words
from labkit.experiments.report.english import METRIC_NAMES, interval, p_value, records, term_name
from labkit.experiments.report.material import Material, Slice

_HEAD = ("what", "gain", "95 % interval", "p (Holm)", "n requests / tasks / repeats", "smallest gain", "verdict")
_NOTE = (
    "A gain above 1 is better on every metric: less time, fewer tokens computed, more tokens a second. Layers: "
    "averaged over the settings of the other layers that ran; an interaction of 1 means that gains multiply. Intervals "
    "are on paired log ratios, clustered by task. Smallest gain: what this n would have found in 80 of 100 runs."
)


def gains(material: Material) -> tuple[Block, ...]:
    """For each cache state and condition: the headline effects, then what explores, folded away."""
    blocks = [block for of in material.slices for block in _slice(of, len(material.slices) > 1)]
    return (Heading("Effects of the layers"), *blocks) if blocks else ()


def _slice(of: Slice, several: bool) -> Iterator[Block]:
    where = f" ({of.name})" if several else ""
    headline, rest = (of.effects[of.effects["headline"] == kind] for kind in (True, False))
    if not headline["gain"].notna().any() and not of.arm_gains["gain"].notna().any():
        yield Words(f"No two arms finished the same request{where}, so no effect can be computed.", "warn")
        return
    yield gain_table(headline, "term", f"Headline effects{where}", _NOTE)
    yield from _notes(headline)
    more = [
        gain_table(of.arm_gains[of.arm_gains["headline"]], "arm", f"Each arm against base{where}"),
        gain_table(rest, "term", f"Exploring: other metrics, p not corrected{where}"),
        gain_table(of.arm_gains[~of.arm_gains["headline"]], "arm", f"Exploring: each arm against base{where}"),
    ]
    yield More(f"Each arm against base, and the metrics outside the headline set{where}", tuple(more))


def gain_table(rows: pd.DataFrame, by: str, caption: str, note: str = "") -> Grid:
    """A table of gains; `by`: the column that names what was compared."""
    cells = tuple(_row(row, by) for row in records(rows))
    return Grid(_HEAD, cells, caption, note, words=(0, 6))


def _row(row: dict[str, Any], by: str) -> tuple[str, ...]:
    return (
        f"{term_name(row[by])}, {METRIC_NAMES.get(row['metric'], row['metric'])}",
        times(row["gain"]),
        interval(row),
        p_value(row["p_holm"] if row["headline"] else row["p"]),
        f"{row['n_requests']} / {row['n_tasks']} / {row['n_repeats']}",
        times(row["smallest_gain"]),
        row["verdict"],
    )


def _notes(rows: pd.DataFrame) -> Iterator[Block]:
    said = {note: None for note in rows["note"] if note}
    if said:
        yield Words(" ".join(said))
