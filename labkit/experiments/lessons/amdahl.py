"""Which of base's seconds each layer can shorten, and what it could gain at most: Amdahl's law on the ledger of base.

    at most = total / (total - what the layer can shorten)

Prefix caching can shorten prefill, and of it only what was seen before: the hit ceiling. Speculation can shorten decode
alone. The split shortens nothing for one agent at a time: it keeps one agent's prefill out of another one's decode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.arms import MIN_PAIRS, in_order
from labkit.analysis.cache import cache_use
from labkit.analysis.format import DASH, percent, times
from labkit.analysis.tables import measured
from labkit.core.arms import ARMS, BASE, Arm
from labkit.core.errors import BadInput
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import records
from labkit.plots.wall_ledger import wall_ledger_info


@dataclass(frozen=True, kw_only=True)
class Owned:
    """Base's seconds, summed over `n` finished steps without their tools, by the layer that can shorten them.

    `prefill_s`: prefix caching, the share `ceiling` of it (None: not known, then all). `decode_s`: speculation.
    `other_s`: queue, HTTP, client; no layer. `split`: the engine told its own times; else the first two are what a
    client sees, before and after the first token.
    """

    n: int
    prefill_s: float
    decode_s: float
    other_s: float
    ceiling: float | None
    split: bool

    @property
    def total_s(self) -> float:
        return self.prefill_s + self.decode_s + self.other_s

    def at_most(self, arm: Arm) -> float | None:
        """The gain if what the arm's layers can shorten took no time at all; infinite where that is everything.

        None for an arm that splits (Amdahl 1967 says nothing of company).
        """
        if arm.pd_split:
            return None
        saved = self.prefill_s * (1.0 if self.ceiling is None else self.ceiling) * arm.prefix_caching
        left = self.total_s - saved - self.decode_s * arm.speculation
        return self.total_s / left if left > 0 else math.inf

    def table(self) -> pd.DataFrame:
        """A row for each part: seconds, its share, and who can shorten it."""
        names = ("prefill", "decode") if self.split else ("to the first token", "after the first token")
        seen = "part" if self.ceiling is None else percent(self.ceiling)
        rows = (
            (names[0], self.prefill_s, f"prefix caching: {seen} of the prompts was seen before"),
            (names[1], self.decode_s, "speculation"),
            ("queue, HTTP, client", self.other_s, "no layer"),
        )
        return pd.DataFrame(
            [
                {"part": part, "seconds": round(s, 2), "share": percent(s / self.total_s), "who can shorten it": who}
                for part, s, who in rows
            ]
        )


def owned(steps: pd.DataFrame) -> Owned:
    """Of a run's steps that count. Raises BadInput without a finished step of base."""
    of_base = steps[steps["arm"] == BASE.label]
    ledgers = wall_ledger_info(of_base).arms
    if not ledgers:
        raise BadInput("ARMS", in_order(steps["arm"]), "base among them, with a finished step")
    drawn = ledgers[0].drawn
    prefill = drawn.get("prefill", drawn.get("first", 0.0))
    decode = drawn.get("decode", drawn.get("rest", 0.0))
    whole = sum(each for name, each in drawn.items() if name != "tool")
    return Owned(
        n=ledgers[0].n,
        prefill_s=prefill,
        decode_s=decode,
        other_s=max(0.0, whole - prefill - decode),
        ceiling=cache_use(measured(of_base)).hit_ceiling,
        split=ledgers[0].parts is not None,
    )


def limits(found: Owned, arms: pd.DataFrame) -> pd.DataFrame:
    """What each arm could gain at most beside what it did. `arms`: of `labkit.analysis.arms.arm_table`.

    Both are ratios of sums, so that they can be compared: `measured` is base's seconds over the arm's.
    """
    by_arm = {str(row["arm"]): row for row in records(arms)}
    return pd.DataFrame(
        [
            {
                "arm": arm.label,
                "at most": _times(found.at_most(arm)),
                "measured": times(by_arm[arm.label]["ratio_to_base"]),
                "n": int(by_arm[arm.label]["n_pairs"]),
            }
            for arm in ARMS
            if arm != BASE and arm.label in by_arm
        ]
    )


def _times(most: float | None) -> str:
    return DASH if most is None else "any" if math.isinf(most) else times(most)


def within_limits(found: Owned, arms: pd.DataFrame) -> Outcome:
    """Whether no arm without a split gained more than its limit. `arms`: as for `limits`."""
    by_arm = {str(row["arm"]): row for row in records(arms)}
    known = [
        (arm.label, most, float(by_arm[arm.label]["ratio_to_base"]))
        for arm in ARMS
        if arm != BASE and arm.label in by_arm and by_arm[arm.label]["n_pairs"] >= MIN_PAIRS
        for most in [found.at_most(arm)]
        if most is not None
    ]
    if not known:
        return unmeasured(f"no arm without a split has {MIN_PAIRS} requests in common with base")
    name, most, gain = max(known, key=lambda each: each[2] / each[1])
    n = int(by_arm[name]["n_pairs"])
    way = "passed its limit by most" if gain > most else "came nearest to its limit"
    return Outcome(gain <= most, f"{name} {way}: {times(gain)} of at most {_times(most)} (n = {n} pairs)")


def checked(found: Owned, arms: pd.DataFrame) -> str:
    """`within_limits` in Markdown, as the check that it is: what base took all but decides it, so nothing is tested."""
    holds, saw = within_limits(found, arms)
    if holds is None:
        return f"**Not checked:** {saw}."
    return f"**Checked:** {saw}." if holds else f"**The check fails:** {saw}. So a share of base is not what it seems."
