"""Where a drafter costs more than it gives: the paired time of each step with it and without.

The reference is the same arm without speculation. Its condition is another one (`method=none`), so the condition is
left out of the pairing: a pair is the same request of the same pass number. A drafter that needs other engine settings
than the first one has a reference with those settings, `method=none for NAME+NAME`.

One start of an engine is a little faster or slower as a whole. The interval shown is over steps and tasks within the
starts that there were. A verdict needs more: that the effects' own test (`comparisons`), which adds what starts differ
by and asks for five tasks and for enough starts, says the same. Starts are judged over all drafters and references.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.comparisons import Comparison, compared
from labkit.analysis.contrasts import Contrast
from labkit.analysis.drafters import by_method, groups
from labkit.analysis.effect_words import MIN_TASKS, TOO_FEW, blind, verdict
from labkit.analysis.latency import e2e
from labkit.analysis.ratios import MIN_STEPS, Ratio, ratio_of_sums
from labkit.analysis.requests import request_costs
from labkit.analysis.starts import starts_of
from labkit.analysis.tables import STEP_KEY, Floats, floats, is_finished, measured, numbers, share, typed_frame
from labkit.core.columns import column
from labkit.core.conditions import is_reference, of_reference
from labkit.core.records import Record

PAIR_KEY = [name for name in STEP_KEY if name != "condition"]


@dataclass(frozen=True, kw_only=True)
class GainRow(Record):
    """One drafter against no speculation, over the steps of a group that finished in both."""

    method: str = column("string", "", "drafter, as the profile names it")
    by: str = column("string", "", "what the group is of: `all`, `kind` or `turn`")
    group: str = column("string", "", "kind of step, or first and last turn; `all` for all")
    n_pairs: int = column("int64", "", "steps that finished in both")
    n_tasks: int = column("int64", "", "tasks that these pairs are of")
    n_repeats: int = column("int64", "", "repeats that these pairs are of")
    n_starts: int = column("int64", "", "starts of an engine, of the side that has fewer")
    n_same: int = column("int64", "", "pairs with the very same text")
    gain: float | None = column("float64", "", "end-to-end time without / with it; over 1 is faster", nullable=True)
    low: float | None = column("float64", "", "95 % interval of the gain, low end", nullable=True)
    high: float | None = column("float64", "", "95 % interval of the gain, high end", nullable=True)
    decode_gain: float | None = column(
        "float64", "", "time from first to last token without / with it: where a drafter works", nullable=True
    )
    over: str = column("string", "", "what the interval is about: `tasks`, or the steps of few tasks")
    too_few: bool = column("bool", "", f"fewer than {MIN_STEPS} pairs: too few to tell")
    verdict: str = column("string", "", "what the interval says, in words")


def gain_table(steps: pd.DataFrame, *, tested: bool = True) -> pd.DataFrame:
    """One row per drafter and group that has a pair; columns as GainRow declares them. Empty without a reference.

    `tested`: False for gains and intervals alone, in a third of the time; every verdict then is "too few to tell".
    """
    kept = measured(steps)
    kept = kept[is_finished(kept) & (kept["mode"] != "pinned")]
    rows, tests = [], _tests(kept) if tested else {}
    for method, of_method in by_method(kept):
        pairs = of_method.merge(reference(kept, method), on=PAIR_KEY, suffixes=("", "_without"))
        rows += [
            _row(method, by, group, some, tests.get((method, by, group), Comparison(name=method, metric="e2e_s")))
            for by, group, some in groups(pairs)
            if len(some)
        ]
    return typed_frame(GainRow, rows)


def _tests(kept: pd.DataFrame) -> dict[tuple[str, str, str], Comparison]:
    """The test of every drafter against its reference in every group: conditions take the place of arms."""
    sides = kept.assign(arm=kept["condition"])
    found = {}
    for by, group, some in groups(sides):
        costs, told = request_costs(some, _NO_CHUNKS, "e2e_s"), sorted(some["arm"].unique())
        against = [
            Contrast(method, {str(of_reference["condition"].iloc[0]): 1.0, str(mine["condition"].iloc[0]): -1.0})
            for method, mine in by_method(some)
            if len(of_reference := reference(some, method))
        ]
        for one in compared("e2e_s", costs, against, starts_of(some), told):
            found[one.name, by, group] = one
    return found


_NO_CHUNKS = pd.DataFrame()
"""End-to-end times need none."""


def reference(steps: pd.DataFrame, method: str) -> pd.DataFrame:
    """The rows without speculation that this drafter is compared with; empty when there are none."""
    own = steps["condition"].map(lambda text: is_reference(text, method)).astype(bool)
    return steps[own] if own.any() else steps[steps["condition"] == of_reference()]


def _row(method: str, by: str, group: str, pairs: pd.DataFrame, test: Comparison) -> GainRow:
    without = pairs[[f"{name}_without" for name in _TIMES]].set_axis(list(_TIMES), axis=1)
    gain = _on_the_log_scale(ratio_of_sums(floats(e2e(without)), floats(e2e(pairs)), pairs["task"].tolist()))
    return GainRow(
        method=method,
        by=by,
        group=group,
        n_pairs=gain.n,
        n_tasks=gain.n_tasks,
        n_repeats=int(pairs["repeat"].nunique()),
        n_starts=test.n_starts,
        n_same=int((pairs["text_sha256"] == pairs["text_sha256_without"]).sum()),
        gain=gain.value,
        low=gain.low,
        high=gain.high,
        decode_gain=share(*_on_both(_decode(without), _decode(pairs))),
        over=gain.over,
        too_few=gain.too_few,
        verdict=_verdict(gain, test),
    )


def _on_the_log_scale(gain: Ratio) -> Ratio:
    """The interval as a factor both ways: a gain cannot be below 0, and half is as far from 1 as double."""
    if gain.value is None or gain.high is None:
        return gain
    factor = math.exp((gain.high - gain.value) / gain.value)
    return gain._replace(low=gain.value / factor, high=gain.value * factor)


_TIMES = ("t_send", "t_first_token", "t_last", "t_end")


def _decode(steps: pd.DataFrame) -> Floats:
    return numbers(steps, "t_last") - numbers(steps, "t_first_token")


def _on_both(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Seconds of the steps that have some in both: a reply of one token has none to divide."""
    both = (one > 0) & (other > 0)
    return one[both], other[both]


def _verdict(gain: Ratio, test: Comparison) -> str:
    """Both must say so: the interval that is shown, of sums, and the test, of tasks and starts."""
    if gain.too_few or gain.low is None or gain.high is None:
        return TOO_FEW
    if test.p is None or test.n_tasks < MIN_TASKS or blind(test):
        return TOO_FEW
    said = verdict(test, test.p, True, None)
    if gain.high < 1 and said.startswith("worse"):
        return "costs more than it gives"
    return "faster" if gain.low > 1 and said.startswith("better") else "no difference to be seen"
