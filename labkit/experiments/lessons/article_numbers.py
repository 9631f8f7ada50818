"""A published number beside what the runs of this machine say.

A number from other hardware cannot be confirmed here; whether the layer helps or harms can. So a claimed gain agrees
with a measured one on the same side of 1, and the reason says that this is all. A level (a hit rate, tokens per round)
belongs to an agent and a drafter more than to a machine: there the ranges must meet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.format import DASH, missing
from labkit.experiments.lessons.article_judged import AGREES, DIFFERS, UNSEEN, Judged
from labkit.experiments.lessons.article_words import gains, levels, metric_words, rows_of
from labkit.experiments.report.english import listed

HAS_THE_LAYER = ("prefix cache in GPU memory alone", "1 prefill + 1 decode without a shared store")
"""Baselines that have the layer already: such a claim compares two ways of having it, and no run here does."""
WITHOUT_NUMBER: Mapping[str, Mapping[str, str]] = {"moriio-ttft-worse": {"ttft_s": "worse", "itl_p99_s": "better"}}
"""Claims that name a direction and no size: what each metric is said to become, all of them under load."""
_LAYERS = {"prefix_caching": "prefix caching", "pd_split": "the split", "speculation": "speculation"}
_DECIDED = ("better", "worse", "same")


def judged_number(claim: Mapping[str, Any], seen: pd.DataFrame) -> Judged:
    """`claim`: a row of labkit.store.claims; `seen`: as `article_seen.seen` returns it."""
    if claim["baseline"] in HAS_THE_LAYER:
        return Judged(verdict=UNSEEN, because="its baseline has the layer already; no run here compares two ways of it")
    if claim["id"] in WITHOUT_NUMBER:
        return _directions(WITHOUT_NUMBER[str(claim["id"])], str(claim["layer"]), seen)
    if missing(claim["value"]):
        return Judged(verdict=UNSEEN, because="it has no number to compare with")
    metric, layer = str(claim["metric"]), str(claim["layer"])
    rows = rows_of(seen, layer, metric, str(claim["unit"]))
    if not len(rows):
        of = f" of {_LAYERS[layer]}" if layer in _LAYERS else ""
        return Judged(verdict=UNSEEN, because=f"no run here measured {metric_words(metric)}{of}")
    return _gain(float(claim["value"]), rows) if claim["unit"] == "x" else _level(claim, rows)


def _gain(claimed: float, rows: pd.DataFrame) -> Judged:
    here, decided = gains(rows), rows[rows["verdict"].isin(_DECIDED)]
    if decided.empty:
        return Judged(verdict=UNSEEN, because=f"{TOO_FEW} on this machine", here=here)
    side = "better" if claimed > 1 else "worse" if claimed < 1 else "same"
    if (decided["verdict"] == side).any():
        return Judged(verdict=AGREES, because=f"{side} here, too; the size belongs to its own machine", here=here)
    found = listed(dict.fromkeys(decided["verdict"]))
    return Judged(verdict=DIFFERS, because=f"{found} here, where the claim says {side}", here=here)


def _level(claim: Mapping[str, Any], rows: pd.DataFrame) -> Judged:
    low, high = (claim["value"] if missing(claim[name]) else claim[name] for name in ("low", "high"))
    least, most = rows["value"].min(), rows["value"].max()
    if least <= high and low <= most:
        return Judged(verdict=AGREES, because="what was seen here meets it", here=levels(rows))
    side = "below" if most < low else "above"
    return Judged(verdict=DIFFERS, because=f"all that was seen here is {side} it", here=levels(rows))


def _directions(said: Mapping[str, str], layer: str, seen: pd.DataFrame) -> Judged:
    """Agrees only when every direction is seen; one that is contradicted is enough to differ."""
    rows = {metric: _in_company(rows_of(seen, layer, metric, "x")) for metric in said}
    found = {metric: [one for one in of["verdict"] if one in _DECIDED] for metric, of in rows.items()}
    here = "; ".join(f"{metric_words(metric)} {gains(of)}" for metric, of in rows.items() if len(of)) or DASH
    if against := [metric for metric, side in said.items() if found[metric] and side not in found[metric]]:
        names = listed(_found(metric, rows[metric]) for metric in against)
        return Judged(verdict=DIFFERS, because=f"here {names}", here=here)
    if untold := [metric_words(metric) for metric in said if not found[metric]]:
        return Judged(verdict=UNSEEN, because=f"{TOO_FEW} of {listed(untold)}", here=here)
    return Judged(verdict=AGREES, because="each goes the same way here; the sizes belong to its own machine", here=here)


def _found(metric: str, rows: pd.DataFrame) -> str:
    """`ITL p99 is worse: 0.70x (0.55 to 0.89, n 30, pd)`."""
    decided = rows[rows["verdict"].isin(_DECIDED)]
    return f"{metric_words(metric)} is {listed(dict.fromkeys(decided['verdict']))}: {gains(decided)}"


def _in_company(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of several agents at once, where there are any: one alone has nobody who could stall its stream."""
    several = rows[rows["agents"] > 1]
    return several if len(several) else rows
