"""The eight arms as a cube: every edge switches one layer on and leaves the others as they are.

Which layer to switch on next is a question about edges, not about layers averaged over the settings of the others. All
edges are judged together: p is corrected by Holm over all that were measured, since the way is chosen by looking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from labkit.analysis.comparisons import Comparison, compared
from labkit.analysis.contrasts import Contrast
from labkit.analysis.effect_rows import GainRow
from labkit.analysis.effect_words import level, method, note, smallest, verdict
from labkit.analysis.effects import holm, ratio
from labkit.analysis.format import times
from labkit.analysis.paired import measured_arms
from labkit.analysis.requests import Metric, request_costs, sent
from labkit.analysis.starts import starts_of
from labkit.analysis.tables import typed_frame
from labkit.core.arms import ARMS, LAYERS, Arm
from labkit.core.columns import column
from labkit.core.records import ChunkRecord
from labkit.experiments.report.english import LAYER_NAMES, interval, records, verdict_head
from labkit.experiments.report.english import smallest as smallest_words

_KEPT = ("metric", "p", "n_requests", "n_tasks", "n_repeats", "n_starts", "n_left_out", "over", "df", "block_sd")


@dataclass(frozen=True, kw_only=True)
class EdgeRow(GainRow):
    """One layer switched on: the gain of the arm with it over the arm without it."""

    start: str = column("string", "", "the arm without the layer")
    layer: str = column("string", "", "the layer that is switched on")
    end: str = column("string", "", "the arm with it")


def edges(steps: pd.DataFrame, metric: Metric = "e2e_s") -> pd.DataFrame:
    """One row per edge whose two arms were measured, in the order of ARMS; columns as EdgeRow declares them.

    `steps`: the cold ones that count. `metric`: one of whole steps, not of chunks.
    """
    kept = sent(steps, "cold", None)
    costs, starts = request_costs(kept, typed_frame(ChunkRecord, []), metric), starts_of(kept)
    ways = _ways(measured_arms(costs))
    contrasts = [Contrast(f"{one}>{other}", {one: 1.0, other: -1.0}) for one, _, other in ways]
    found = compared(metric, costs, contrasts, starts)
    corrected = iter(holm([one.p for one in found if one.p is not None]))
    p_holm = [None if one.p is None else next(corrected) for one in found]
    family = sum(p is not None for p in p_holm)
    return typed_frame(EdgeRow, [_row(one, way, p, family) for one, way, p in zip(found, ways, p_holm, strict=True)])


def _ways(arms: Sequence[str]) -> list[tuple[str, str, str]]:
    """Arm, layer and arm of each edge between these arms."""
    there = [arm for arm in ARMS if arm.label in arms]
    each = [(arm, layer, with_layer(arm, layer)) for arm in there for layer in LAYERS if layer not in arm.layers]
    return [(arm.label, layer, other.label) for arm, layer, other in each if other in there]


def with_layer(arm: Arm, layer: str) -> Arm:
    """The arm with one layer more."""
    return replace(arm, **{layer: True})


def _row(found: Comparison, way: tuple[str, str, str], p_holm: float | None, family: int) -> EdgeRow:
    needed = smallest(found, level(found, family, headline=True))
    start, layer, end = way
    return EdgeRow(
        start=start,
        layer=layer,
        end=end,
        gain=ratio(found.gain),
        low=ratio(found.low),
        high=ratio(found.high),
        p_holm=p_holm,
        headline=True,
        verdict=verdict(found, p_holm, True, needed),
        note=note(found),
        smallest_gain=needed,
        method=method(found),
        arms_used=",".join(found.arms_used),
        **{name: getattr(found, name) for name in _KEPT},
    )


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """The edges as they are read: from which arm, which layer, the gain, and what can be said of it."""
    return pd.DataFrame(
        [
            {
                "from": row["start"],
                "switch on": LAYER_NAMES[row["layer"]],
                "gain": times(row["gain"]),
                "95 % interval": interval(row),
                "shows from": smallest_words(row["smallest_gain"]),
                "verdict": verdict_head(row["verdict"]),
                "n": f"{row['n_requests']} / {row['n_tasks']} tasks",
            }
            for row in records(table)
        ]
    )


def corners() -> pd.DataFrame:
    """The eight arms, with what is on in each."""
    return pd.DataFrame(
        [
            {"arm": arm.label, **{LAYER_NAMES[layer]: "on" if layer in arm.layers else "" for layer in LAYERS}}
            for arm in ARMS
        ]
    )
