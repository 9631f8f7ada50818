"""The numbers of the runs and the article's claims as tables for readers: metrics by name, intervals beside values."""

from __future__ import annotations

import pandas as pd

from labkit.analysis.format import DASH
from labkit.core.arms import LAYERS
from labkit.experiments.lessons.article_words import cell, metric_words, with_interval
from labkit.experiments.report.english import listed, records
from labkit.plots.labels import term_label

_COLUMNS = ("layer", "metric", "arm and condition", "value (95 % interval)", "n", "verdict")


def gains_shown(seen: pd.DataFrame) -> pd.DataFrame:
    """The gains of `Evidence.seen`, by layer. Metrics that have one value share a row: at an equal number of tokens,
    time and tokens per second are one gain."""
    return _shown(seen[seen["unit"] == "x"])


def levels_shown(seen: pd.DataFrame) -> pd.DataFrame:
    """The hit rates and tokens per round of `Evidence.seen`, by layer; a level has no verdict."""
    return _shown(seen[seen["unit"] != "x"]).drop(columns="verdict")


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    order = {layer: place for place, layer in enumerate(LAYERS)}
    kept: dict[tuple[object, ...], list[str]] = {}
    for row in records(rows.sort_values("layer", key=lambda names: names.map(order), kind="stable")):
        rest = (term_label(row["layer"]), row["where"], with_interval(row), int(row["n"]), row["verdict"], row["run"])
        kept.setdefault(rest, []).append(metric_words(row["metric"]))
    table = [(layer, listed(of), where, value, n, verdict) for (layer, where, value, n, verdict, _), of in kept.items()]
    return pd.DataFrame(table, columns=list(_COLUMNS))


def _layer(name: str) -> str:
    return DASH if name == "none" else term_label(name)


def claims_shown(claims: pd.DataFrame) -> pd.DataFrame:
    """What was claimed, and what kind of thing each is about."""
    rows = [
        {"layer": _layer(row["layer"]), "about": metric_words(row["metric"]), "claim": cell(row["statement"])}
        for row in records(claims)
    ]
    return pd.DataFrame(rows, columns=["layer", "about", "claim"])
