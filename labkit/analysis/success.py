"""Is an arm's task success not worse? Non-inferiority, with a margin that was set before.

A faster arm that solves fewer tasks is no gain. "No significant difference" does not show that it solves as many: with
few tasks nothing is significant. So the question is turned round: the arm is *not worse* when the lower end of the 95 %
interval of `arm - base` stays above `-margin` (a one-sided test at 2.5 %).

Paired tasks: the score interval of Tango 1998 (Statistics in Medicine 17:891), which holds with no discordant pair.
Unpaired: Newcombe's hybrid score interval, from statsmodels. A task that failed or was cut off counts as not solved; it
stays in the denominator. Several runs of one task are not several tasks: give one outcome per task, or read the
interval as about runs of these tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from statsmodels.stats.proportion import confint_proportions_2indep

from labkit.core.columns import column
from labkit.core.errors import BadInput
from labkit.core.records import Record

_Z = float(stats.norm.ppf(0.975))


@dataclass(frozen=True, kw_only=True)
class SuccessRow(Record):
    """How often tasks were solved in base and in an arm, and whether the arm is not worse by more than the margin."""

    n_base: int = column("int64", "", "tasks in base")
    n_arm: int = column("int64", "", "tasks in the arm")
    base_rate: float | None = column("float64", "", "share of base's tasks that were solved", nullable=True)
    arm_rate: float | None = column("float64", "", "share of the arm's tasks that were solved", nullable=True)
    difference: float | None = column("float64", "", "arm_rate - base_rate", nullable=True)
    low: float | None = column("float64", "", "lower end of its 95 % interval", nullable=True)
    high: float | None = column("float64", "", "upper end of its 95 % interval", nullable=True)
    margin: float = column("float64", "", "the largest loss that is called not worse")
    paired: bool = column("bool", "", "the same tasks in both, in the same order")
    method: str = column("string", "", "how the interval was made")
    verdict: str = column("string", "", "not worse, worse or too few to tell; then why")


def non_inferior(base: Sequence[bool], arm: Sequence[bool], margin: float, paired: bool) -> SuccessRow:
    """Compare outcomes (solved or not). Raises BadInput for a margin outside 0 to 1, or pairs of different number."""
    if not 0 < margin < 1:
        raise BadInput("margin", margin, "above 0 and below 1, such as 0.1 for ten points")
    if paired and len(base) != len(arm):
        raise BadInput("arm", len(arm), f"as many outcomes as base: {len(base)}", "Or compare unpaired.")
    known = min(len(base), len(arm)) > 0
    rates = (float(np.mean(base)), float(np.mean(arm))) if known else (None, None)
    low, high = (_tango(base, arm) if paired else _newcombe(base, arm)) if known else (None, None)
    return SuccessRow(
        n_base=len(base),
        n_arm=len(arm),
        base_rate=rates[0],
        arm_rate=rates[1],
        difference=None if rates[0] is None or rates[1] is None else rates[1] - rates[0],
        low=low,
        high=high,
        margin=margin,
        paired=paired,
        method="Tango's score interval of paired proportions" if paired else "Newcombe's interval of two proportions",
        verdict=_verdict(low, high, margin),
    )


def _newcombe(base: Sequence[bool], arm: Sequence[bool]) -> tuple[float, float]:
    found = confint_proportions_2indep(sum(arm), len(arm), sum(base), len(base), compare="diff", method="newcomb")
    return float(found[0]), float(found[1])


def _tango(base: Sequence[bool], arm: Sequence[bool]) -> tuple[float, float]:
    """The differences that a score test at 5 % does not reject: where its statistic crosses -z and z."""
    pairs = np.array([base, arm], dtype=bool)
    gained, lost, n = int((~pairs[0] & pairs[1]).sum()), int((pairs[0] & ~pairs[1]).sum()), pairs.shape[1]

    def score(delta: float) -> float:
        b = (2 * n - gained + lost) * delta - gained - lost
        c = -lost * delta * (1 - delta)
        share = (np.sqrt(b * b - 8 * n * c) - b) / (4 * n)
        variance = n * (2 * share + delta * (1 - delta))
        return float((gained - lost - n * delta) / np.sqrt(max(variance, 1e-300)))

    edge = 1 - 1e-9
    seen = (gained - lost) / n
    low = -1.0 if score(-edge) <= _Z else float(brentq(lambda d: score(d) - _Z, -edge, min(seen, edge)))
    high = 1.0 if score(edge) >= -_Z else float(brentq(lambda d: score(d) + _Z, max(seen, -edge), edge))
    return low, high


def _verdict(low: float | None, high: float | None, margin: float) -> str:
    if low is None or high is None:
        return "too few to tell: no task"
    points = f"{100 * margin:.0f} points"
    if low > -margin:
        return f"not worse: any loss is below {points}"
    if high < 0:
        return f"worse: the loss may exceed {points}"
    return f"too few to tell: a loss of {points} cannot be ruled out"
