"""What a run found, in words made from its numbers: what the layers that differ did to the steps that both arms served.

Only steps that both arms finished are spoken of, the same requests in the same lap. Nothing here is an inference: a
ratio of sums, shares, medians, and how many steps they are over. What n is too small for is said by the words of n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from labkit.analysis.arms import MIN_PAIRS, in_order
from labkit.analysis.effect_words import TOO_FEW
from labkit.core.arms import BASE
from labkit.experiments.dashboard.finding_caveats import caveats
from labkit.experiments.dashboard.finding_words import evidence, headline
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.dashboard.pairs import Pairs, paired
from labkit.experiments.dashboard.two_arms import cold_steps


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One arm against another. `arm`, `against`: labels; `ratio`: how many times faster, None without a pair.

    `said`: the finding in one sentence; `because`: sentences of what was measured beside it; `but`: what limits it.
    """

    arm: str
    against: str
    ratio: float | None
    n: int
    said: str
    because: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    @property
    def tone(self) -> str:
        """`faster`, `slower`, `same`, or `unknown` while there is too little to tell."""
        if self.ratio is None or self.n < MIN_PAIRS:
            return "unknown"
        return "faster" if self.ratio > 1.05 else "slower" if self.ratio < 1 / 1.05 else "same"


def findings(opened: Opened, beside: Opened | None = None) -> tuple[Finding, ...]:
    """Each arm against base, or the one with the fewest layers: of a live run the newest first, else the fastest.

    `beside`: the run that this one repeats; its newest arm comes first of what this run is set against. Empty while no
    step counts.
    """
    rows = cold_steps(opened)
    arms = in_order(rows["arm"])
    if not arms:
        return ()
    found = [] if beside is None else _across(opened, beside, rows)
    against = BASE.label if BASE.label in arms else arms[0]
    others = [arm for arm in dict.fromkeys([_newest(rows), *reversed(arms)]) if arm != against]
    own = [_finding(opened, paired(rows, rows, against, arm)) for arm in others]
    found += own if opened.info.experiment == "live" else _fastest_first(own)
    return tuple(found) or (_alone(against, len(rows)),)


def _fastest_first(found: list[Finding]) -> list[Finding]:
    """Of a run that compares several arms; the best of many is partly luck, and that is said."""
    ordered = sorted(found, key=lambda each: -(each.ratio or 0.0))
    if len(ordered) < 2:
        return ordered
    luck = f"The fastest of {len(ordered)} arms; the best of several is partly luck."
    return [replace(ordered[0], but=(*ordered[0].but, luck)), *ordered[1:]]


def _across(opened: Opened, beside: Opened, rows: pd.DataFrame) -> list[Finding]:
    """This run's newest arm against the arms of the run beside, its newest first."""
    theirs, arm = cold_steps(beside), _newest(rows)
    if not len(theirs):
        return []
    others = dict.fromkeys([_newest(theirs), *in_order(theirs["arm"])])
    return [_finding(opened, paired(theirs, rows, other, arm), beside) for other in others]


def _newest(rows: pd.DataFrame) -> str:
    """The arm of the step that was sent last."""
    return str(rows.sort_values("t_send")["arm"].iloc[-1])


def _finding(opened: Opened, pairs: Pairs, beside: Opened | None = None) -> Finding:
    few = () if pairs.n >= MIN_PAIRS or not pairs.n else (f"{pairs.n_words}: {TOO_FEW}.",)
    return Finding(
        arm=pairs.arm,
        against=pairs.against,
        ratio=pairs.ratio,
        n=pairs.n,
        said=headline(pairs),
        because=evidence(pairs) if pairs.n else (),
        but=few + caveats(opened, pairs, beside),
    )


def _alone(arm: str, n: int) -> Finding:
    steps = "1 step" if n == 1 else f"{n} steps"
    said = f"{steps} under {arm} so far, and nothing to compare with: a ratio needs a second arm on the same steps."
    return Finding(arm=arm, against="", ratio=None, n=0, said=said)
