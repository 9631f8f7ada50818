"""Published claims beside what was measured: which to show, and each in a row with its source and its caution."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from labkit.analysis.format import missing, times
from labkit.core.arms import LAYERS
from labkit.experiments.report.english import LAYER_NAMES, records
from labkit.plots.claims import GainsInfo, gains_info
from labkit.plots.labels import term_label

NOT_SAID = "hardware not said"


def gains_claimed(claims: pd.DataFrame) -> pd.DataFrame:
    """The claims that are a gain of one layer; columns as labkit.store.claims.ClaimRow declares them."""
    kept = claims[(claims["unit"] == "x") & claims["value"].notna() & claims["layer"].isin(LAYERS)]
    return kept.assign(hardware=kept["hardware"].where(kept["hardware"] != "", NOT_SAID)).reset_index(drop=True)


def on_metric(claims: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The claims on one metric: another one's says nothing about it."""
    return claims[claims["metric"] == metric]


def layers_of(claims: pd.DataFrame) -> list[str]:
    """Layers that anything is claimed of, in the lab's order."""
    return [layer for layer in LAYERS if layer in set(claims["layer"])]


def hardware_of(claims: pd.DataFrame) -> list[str]:
    """Hardware that anything is claimed on; last where nobody said."""
    return sorted(set(map(str, claims["hardware"])), key=lambda name: (name == NOT_SAID, name.lower()))


def layer_name(layer: str) -> str:
    return LAYER_NAMES.get(layer, layer)


def picked(claims: pd.DataFrame, layers: Collection[str], hardware: Collection[str]) -> pd.DataFrame:
    """Of some layers and some hardware; an empty choice leaves all."""
    kept = claims[claims["layer"].isin(layers)] if layers else claims
    return kept[kept["hardware"].isin(hardware)] if hardware else kept


def beside(gains: pd.DataFrame, claims: pd.DataFrame, metric: str) -> GainsInfo:
    """The arms' measured gains and these claims, as rows of one figure. `gains`: columns of ArmGainRow."""
    return gains_info(gains, claims.assign(hardware=claims["hardware"].replace(NOT_SAID, "")), metric)


def claim_rows(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """A claim a row, by the words above its column."""
    return [
        {
            "layer": term_label(row["layer"]),
            "claim": _value(row),
            "source": f"{row['source']}, {row['date']}",
            "hardware": row["hardware"],
            "what": row["statement"],
            "but": row["caution"],
            "link": row["url"] or None,
        }
        for row in records(claims)
    ]


def _value(row: dict[str, Any]) -> str:
    if missing(row["low"]) or missing(row["high"]):
        return times(row["value"])
    return f"{times(row['low'])} to {times(row['high'])}"
