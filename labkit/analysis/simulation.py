"""Does the interval cover the truth as often as it says? Simulated experiments through the code of `effects`.

Each simulated experiment has two independent metrics, as the headline set has (independent ones are the hardest for the
family-wise error). What is simulated is `block_noise`, `estimate` and `estimate_repeats` of `inference` on cells of
task x arm x repeat, exactly as `comparisons` calls them; a test holds the whole of `effects` to the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.contrasts import Contrast
from labkit.analysis.draws import Draws, draw
from labkit.analysis.inference import Estimate, block_noise, estimate, estimate_repeats
from labkit.analysis.power import smallest_gain
from labkit.analysis.rivals import cluster_robust, requests_alone, sign_flips
from labkit.analysis.scenarios import SCENARIOS, Scenario
from labkit.analysis.tables import Floats, typed_frame
from labkit.core.arms import LAYERS
from labkit.core.columns import column
from labkit.core.records import Record

TASKS: tuple[int, ...] = (3, 5, 10, 20)
CHOSEN = "t on task means + blocks"
_METRICS = 2


@dataclass(frozen=True, kw_only=True)
class CalibrationRow(Record):
    """What a method did in one world with one number of tasks."""

    scenario: str = column("string", "", "name of the world")
    tasks: int = column("int64", "", "tasks of each experiment")
    repeats: int = column("int64", "", "repeats of each experiment")
    method: str = column("string", "", "how the interval or p was made")
    experiments: int = column("int64", "", "simulated experiments, each with two metrics")
    coverage: float | None = column("float64", "", "share of 95 % intervals with the truth inside", nullable=True)
    coverage_worst: float | None = column("float64", "", "the same of the worst term", nullable=True)
    false_positives: float | None = column("float64", "", "share of terms without effect with p < 0.05", nullable=True)
    false_positives_worst: float | None = column("float64", "", "the same of the worst term", nullable=True)
    family_wise: float | None = column(
        "float64", "", "share of experiments in which Holm lets any term without effect pass", nullable=True
    )
    power: float | None = column("float64", "", "share of planted effects with p < 0.05", nullable=True)
    power_holm: float | None = column("float64", "", "share of planted effects that Holm lets pass", nullable=True)
    wrong_sign: float | None = column(
        "float64", "", "share of significant planted effects with the wrong sign", nullable=True
    )
    smallest_gain: float | None = column(
        "float64", "", "smallest gain of a layer found in 80 of 100, uncorrected; median experiment", nullable=True
    )


def calibration(
    scenarios: Sequence[Scenario] = SCENARIOS, tasks: Sequence[int] = TASKS, experiments: int = 1000, seed: int = 20
) -> pd.DataFrame:
    """One row per scenario, number of tasks and method; columns as CalibrationRow declares them."""
    rows = []
    for number, scenario in enumerate(scenarios):
        for n in scenario.tasks or tasks:
            drawn = draw(scenario, n, experiments * _METRICS, seed + 100 * number + n)
            rows += [_judged(scenario, n, name, found, drawn.truth) for name, found in _methods(drawn)]
    return typed_frame(CalibrationRow, rows)


def estimates(drawn: Draws, contrasts: Sequence[Contrast]) -> Estimate:
    """The lab's own method on every simulated experiment: experiment x contrast."""
    cells = drawn.over_requests(drawn.logs)
    square = np.array([one.square for one in contrasts])
    if cells.shape[1] == 1:
        return estimate_repeats(_units(cells, contrasts, drawn.arms)[..., 0], square, cells)
    return estimate(_units(cells, contrasts, drawn.arms), square, block_noise(cells[:, None]))


def _methods(drawn: Draws) -> Iterator[tuple[str, Estimate]]:
    terms = drawn.contrasts
    units = _units(drawn.over_requests(drawn.logs), terms, drawn.arms)
    requests = _of(drawn.logs.mean(axis=-1), terms, drawn.arms)
    within = np.moveaxis(drawn.over_requests(requests**2) - drawn.over_requests(requests) ** 2, -1, 1)
    yield CHOSEN, estimates(drawn, terms)
    if len(drawn.counts) == 1:
        return
    yield "t on task means", estimate(units)
    yield "CR2, requests weighted", cluster_robust(units, drawn.counts)
    yield "sign flips", sign_flips(units)
    yield "t on requests", requests_alone(units, within, drawn.counts)


def _units(cells: Floats, contrasts: Sequence[Contrast], arms: Sequence[str]) -> Floats:
    """Experiment x contrast x task."""
    return np.moveaxis(_of(cells.mean(axis=-1), contrasts, arms), -1, 1)


def _of(logs: Floats, contrasts: Sequence[Contrast], arms: Sequence[str]) -> Floats:
    """Contrasts along the last axis, which is that of the arms."""
    return np.stack([one.of(logs, arms) for one in contrasts], axis=-1)


def _judged(scenario: Scenario, tasks: int, method: str, found: Estimate, truth: Floats) -> CalibrationRow:
    inside = np.where(np.isnan(found.low), np.nan, (found.low <= truth) & (truth <= found.high)).mean(axis=0)
    significant, nothing = found.p < 0.05, np.isclose(truth, 0.0)
    passed = _holm(found.p) < 0.05
    wrong = significant & (np.sign(found.mean) != np.sign(truth))
    return CalibrationRow(
        scenario=scenario.name,
        tasks=tasks,
        repeats=scenario.repeats,
        method=method,
        experiments=len(found.p) // _METRICS,
        coverage=_mean(inside),
        coverage_worst=_least(inside),
        false_positives=_mean(significant[:, nothing].mean(axis=0)),
        false_positives_worst=_most(significant[:, nothing].mean(axis=0)),
        family_wise=float((passed & nothing).reshape(len(found.p) // _METRICS, -1).any(axis=1).mean()),
        power=_mean(significant[:, ~nothing].astype(float)),
        power_holm=_mean(passed[:, ~nothing].astype(float)),
        wrong_sign=_mean(wrong[:, ~nothing][significant[:, ~nothing]].astype(float)),
        smallest_gain=_smallest(found),
    )


def _holm(p: Floats) -> Floats:
    """Holm over each experiment's metrics and terms together: many families at once; a test holds it to statsmodels."""
    families = p.reshape(len(p) // _METRICS, -1)
    order = families.argsort(axis=1)
    steps = np.take_along_axis(families, order, axis=1) * np.arange(families.shape[1], 0, -1)
    corrected = np.empty_like(families)
    np.put_along_axis(corrected, order, np.minimum(np.maximum.accumulate(steps, axis=1), 1.0), axis=1)
    return corrected.reshape(p.shape)


def _smallest(found: Estimate) -> float | None:
    """Of the layers themselves, which are the first terms."""
    if np.isnan(found.se).any():
        return None
    return smallest_gain(float(np.median(found.se[:, : len(LAYERS)])), float(np.median(found.df[:, : len(LAYERS)])))


def _mean(values: Floats) -> float | None:
    return float(np.mean(values)) if values.size and not np.isnan(values).any() else None


def _least(values: Floats) -> float | None:
    return float(np.min(values)) if values.size and not np.isnan(values).any() else None


def _most(values: Floats) -> float | None:
    return float(np.max(values)) if values.size else None
