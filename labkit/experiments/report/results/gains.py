"""Effects of the layers, alone and together, and of each arm against base: gains with intervals, n and a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from labkit.analysis.format import times
from labkit.analysis.texts import in_words, same_texts
from labkit.experiments.report.blocks import Block, Drawing, Grid, Heading, More, Points, Words, drawn
from labkit.experiments.report.english import (
    METRIC_NAMES,
    interval,
    p_value,
    reasons,
    records,
    sentence,
    sentences,
    smallest,
    term_name,
    verdict_head,
)
from labkit.experiments.report.material import Material, Slice
from labkit.plots.forest import forest_figure, forest_info
from labkit.plots.frame import unbroken
from labkit.plots.interactions import interactions_figure, interactions_info

_HEAD = ("", "gain", "95 % interval", "p", "n / tasks / repeats", "smallest gain", "verdict")
_NOTE = (
    "A gain above 1 is better on every metric: less time, fewer tokens computed, more tokens a second. Layers: "
    "averaged over the settings of the other layers that ran; an interaction (×) of 1 means that gains multiply. "
    "Intervals are on paired log ratios, clustered by task; p after Holm's correction over end to end and TTFT. "
    "n: requests. Smallest gain: what this n would have found in 80 of 100 runs."
)


def headline(material: Material) -> tuple[Drawing, ...]:
    """What each layer gains, for the top of the page; nothing where several conditions have gains of their own."""
    of = None if material.conditions else material.headline
    return () if of is None else _forest(of.effects)


def _forest(rows: pd.DataFrame) -> tuple[Drawing, ...]:
    return drawn(forest_info(rows[rows["headline"] & rows["gain"].notna()]), forest_figure)


def gains(material: Material) -> tuple[Block, ...]:
    """For each cache state and condition: the headline effects, then what explores, folded away."""
    above = None if material.conditions else material.headline  # its figure is at the top of the page
    blocks = [block for of in material.slices for block in _slice(of, len(material.slices) > 1, of is above)]
    said = in_words(same_texts(material.measured)) if blocks else ""
    texts = [Words(said)] if said else []
    return (Heading("Effects of the layers"), *texts, *blocks) if blocks else ()


def _slice(of: Slice, several: bool, above: bool) -> Iterator[Block]:
    where = f" ({of.name})" if several else ""
    told = of.effects[of.effects["gain"].notna()]
    arms = of.arm_gains[of.arm_gains["gain"].notna()]
    if told.empty and arms.empty:
        yield Words(f"No two arms finished the same request{where}, so no effect can be computed.", "warn")
        return
    yield from () if above else _forest(told)
    yield from drawn(interactions_info(of.arm_gains), interactions_figure)
    yield from _tables(told[told["headline"]], "term", where)
    yield from _untold(of.effects[of.effects["headline"] & of.effects["gain"].isna()])
    more = [
        *_forest(arms),
        *_tables(arms[arms["headline"]], "arm", f", each arm against base{where}"),
        *_tables(told[~told["headline"]], "term", f", exploring{where}"),
        *_tables(arms[~arms["headline"]], "arm", f", each arm against base, exploring{where}"),
    ]
    yield More(f"Each arm against base, and the metrics outside the headline set{where}", tuple(more))


def _tables(rows: pd.DataFrame, by: str, which: str) -> Iterator[Block]:
    """A table per metric, the last with the note; then what the verdicts say beyond their own words."""
    metrics = list(dict.fromkeys(rows["metric"]))
    for metric in metrics:
        cells = tuple(_row(row, by) for row in records(rows[rows["metric"] == metric]))
        caption = f"{METRIC_NAMES.get(metric, metric)}{which}"
        note = _NOTE if metric == metrics[-1] else ""
        yield Grid(_HEAD, cells, f"{caption[:1].upper()}{caption[1:]}", note, words=(0, 6))
    said = [*reasons(records(rows), lambda row: _of(row, by)), *sentences(rows["note"])]
    if said:
        yield Points(tuple(said))


def _of(row: Any, by: str) -> str:
    return f"{term_name(row[by])} ({METRIC_NAMES.get(row['metric'], row['metric'])})"


def _untold(rows: pd.DataFrame) -> Iterator[Block]:
    """Terms without a value, once for all metrics."""
    said = reasons(records(rows), lambda row: term_name(row["term"]))
    if said:
        yield More("Effects that could not be measured", (Points(tuple(map(sentence, said))),))


def _row(row: dict[str, Any], by: str) -> tuple[str, ...]:
    return (
        term_name(row[by]),
        times(row["gain"]),
        interval(row),
        p_value(row["p_holm"] if row["headline"] else row["p"]),
        f"{row['n_requests']} / {row['n_tasks']} / {row['n_repeats']}",
        smallest(row["smallest_gain"]),
        unbroken(verdict_head(row["verdict"])),
    )
