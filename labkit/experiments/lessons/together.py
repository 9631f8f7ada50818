"""What two layers make of each other: multiplied gains, or added savings?

"They do not get in each other's way" can mean two things, and they predict different numbers (seconds):

    gains multiply   both = base * (one / base) * (other / base)     no interaction, on the log scale of a factorial
    savings add      both = base - (base - one) - (base - other)     each takes away seconds that the other leaves alone

Where layers shorten different seconds the second is the larger gain: what one of them saved is a larger share of what
the other one left. So both together may give more than the product although neither helped the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.effects import Gains, effects
from labkit.analysis.format import missing, seconds, times
from labkit.analysis.latency import e2e
from labkit.analysis.tables import typed_frame
from labkit.core.arms import ARMS, BASE, Arm, Layer
from labkit.core.records import ChunkRecord
from labkit.experiments.dashboard.compare import gain_pictures
from labkit.experiments.dashboard.compare.gain_words import evidence, is_told, why_untold
from labkit.experiments.lessons.expected import row_of
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, interval, term_name
from labkit.plots.rows import common

MIN_TASKS = 5
"""Fewer tasks do not tell to which of two predictions a run is nearer."""
AGREE = 0.8
"""Share of the tasks that must be nearer to the same prediction."""
TIMES = " × "
_OF_PRODUCT = {"better": "more than the product", "worse": "less than the product", "same": "the product"}
MULTIPLIED, ADDED = "if gains multiply", "if savings add"
_COLUMNS = ["arm", "n", "base", "measured", MULTIPLIED, ADDED, "n_tasks", "nearer_sum"]


def together(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm with several layers: seconds measured, and as its layers alone let one expect.

    Columns arm, n (requests, each repeat counted), base, measured, `if gains multiply`, `if savings add` (s, sums over
    the same n), n_tasks and nearer_sum (tasks whose own sums are nearer to added savings than to multiplied gains).
    """
    rows = [_row(arm, _sums(steps, arm)) for arm in ARMS if len(arm.layers) > 1]
    return pd.DataFrame([row for row in rows if row], columns=_COLUMNS)


def _alone(arm: Arm) -> list[str]:
    return [Arm(**{layer: True}).label for layer in arm.layers]


def _sums(steps: pd.DataFrame, arm: Arm) -> pd.DataFrame:
    """Seconds by task and arm, over the requests that base, each layer alone and all of them together finished."""
    needed = [BASE.label, *_alone(arm), arm.label]
    kept = common(steps[steps["arm"].isin(needed)])
    if set(kept["arm"].unique()) != set(needed):
        return pd.DataFrame()
    summed = e2e(kept).groupby([kept["task"], kept["arm"]]).agg(["sum", "size"]).unstack("arm")
    return pd.DataFrame(summed["sum"]).assign(n=summed["size"][BASE.label])


def _row(arm: Arm, sums: pd.DataFrame) -> dict[str, Any] | None:
    if sums.empty:
        return None
    near = [_is_nearer(_expected(arm, of_task)) for _, of_task in sums.iterrows()]
    whole = _expected(arm, sums.sum())
    return {"arm": arm.label, "n": int(sums["n"].sum()), **whole, "n_tasks": len(near), "nearer_sum": sum(near)}


def _expected(arm: Arm, sums: pd.Series[float]) -> dict[str, float]:
    base, alone = float(sums[BASE.label]), [float(sums[name]) for name in _alone(arm)]
    multiplied = base * math.prod(each / base for each in alone)
    added = base - sum(base - each for each in alone)
    return {"base": base, "measured": float(sums[arm.label]), MULTIPLIED: multiplied, ADDED: added}


def _is_nearer(row: Mapping[str, float]) -> bool:
    """Whether the measured seconds are nearer to added savings than to multiplied gains."""
    return abs(row["measured"] - row[ADDED]) < abs(row["measured"] - row[MULTIPLIED])


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `together` as they are read: seconds, and in how many tasks added savings are the nearer ones."""
    shown = {name: table[name].map(seconds) for name in ("base", MULTIPLIED, ADDED, "measured")}
    near = [f"{k} of {n} tasks" for k, n in zip(table["nearer_sum"], table["n_tasks"], strict=True)]
    return pd.DataFrame({"arm": table["arm"], **shown, "nearer to added savings": near, "n": table["n"]})


def savings_add(table: pd.DataFrame, arm: str) -> Outcome:
    """Whether the seconds that an arm takes are nearer to added savings than to multiplied gains."""
    rows: list[dict[str, Any]] = table[table["arm"] == arm].to_dict("records")  # type: ignore[assignment]
    if not rows:
        return unmeasured(f"{arm}, or one of its layers alone, was not measured beside base in this run")
    row = rows[0]
    near, n_tasks = int(row["nearer_sum"]), int(row["n_tasks"])
    saw = (
        f"{arm} took {seconds(row['measured'])}, where added savings make {seconds(row[ADDED])} of base's "
        f"{seconds(row['base'])} and multiplied gains {seconds(row[MULTIPLIED])} (n = {row['n']} requests): added "
        f"savings were nearer in {near} of {counted(n_tasks, 'task')}"
    )
    if n_tasks < MIN_TASKS:
        return Outcome(None, f"{saw}, and it takes {MIN_TASKS}")
    share = near / n_tasks
    if 1 - AGREE < share < AGREE:
        return Outcome(None, f"{saw}, so the tasks do not agree")
    return Outcome(share >= AGREE, saw)


def more_than_product(steps: pd.DataFrame, layers: Sequence[Layer], metric: str = "e2e_s") -> Outcome:
    """Whether two layers together gain more than the product of their gains, with no other layer on.

    `steps`: those that count. `metric`: one of whole steps, not of chunks.
    """
    term = ":".join(layers)
    square = [Arm(**dict.fromkeys(on, True)).label for on in ((), layers[:1], layers[1:], layers)]
    found = effects(steps[steps["arm"].isin(square)], typed_frame(ChunkRecord, []))
    row = row_of(found, term, metric)
    if row is None or missing(row["gain"]):
        return unmeasured(f"no arm of this run had {term_name(term)} beside each of the two alone")
    span = "" if missing(row["low"]) else f" (95 % interval {interval(row)})"
    saw = f"{term_name(term)} gave {times(row['gain'])} the product of their gains{span}, on {evidence(row)}"
    if not is_told(row):
        return Outcome(None, f"{saw}, and {why_untold(row)}")
    return Outcome(str(row["verdict"]).startswith("better"), saw)


def gain_rows(gains: Gains, metric: str) -> list[dict[str, Any]]:
    """The rows of the Compare page, with an interaction's verdict said of the product: it is no layer's gain."""
    return [
        {**row, "verdict": _OF_PRODUCT.get(row["verdict"], row["verdict"])} if TIMES in row["of"] else row
        for row in gain_pictures.gain_rows(gains, metric)
    ]
