"""What a run found, in words made from its numbers: what the layers that differ did to the steps that both arms served.

Only steps that both arms finished are spoken of, the same requests in the same lap; where no two arms sent the same
requests, what each arm got done. Nothing here is an inference: a
ratio of sums, shares, medians, and how many steps they are over. What n is too small for is said by the words of n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from labkit.analysis.arms import MIN_PAIRS, in_order
from labkit.analysis.effect_words import TOO_FEW
from labkit.core.arms import BASE
from labkit.experiments.dashboard.live.finding_caveats import busy_cores, caveats
from labkit.experiments.dashboard.live.finding_own_ways import own_ways_said
from labkit.experiments.dashboard.live.finding_verdict import verdict_of, with_sureness
from labkit.experiments.dashboard.live.finding_words import evidence, headline, no_answer
from labkit.experiments.dashboard.live.pairs import Pairs, paired
from labkit.experiments.dashboard.live.two_arms import cold_sent, cold_steps
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import capital, verdict_head


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One arm against another. `arm`, `against`: labels; `ratio`: how many times faster, None without a pair.

    `said`: the finding in one sentence; `because`: sentences of what was measured beside it; `but`: what limits it.
    `verdict`: its first words, `better` or `too few to tell`, where there are passes enough for one; else empty.
    """

    arm: str
    against: str
    ratio: float | None
    n: int
    said: str
    because: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    verdict: str = ""

    @property
    def tone(self) -> str:
        """`faster`, `slower`, `same`, or `unknown` while there is too little to tell."""
        if self.ratio is None or self.n < MIN_PAIRS or self.verdict == TOO_FEW:
            return "unknown"
        return "faster" if self.ratio > 1.05 else "slower" if self.ratio < 1 / 1.05 else "same"


def findings(opened: Opened, beside: Opened | None = None) -> tuple[Finding, ...]:
    """Each arm against base, or the one with the fewest layers: of a live run the newest first, else the fastest.

    `beside`: the run that this one repeats; its newest arm comes first of what this run is set against. Empty while no
    step counts.
    """
    rows = cold_sent(opened)
    arms = in_order(rows["arm"])
    if not arms:
        return ()
    if not opened.answered and not opened.live:
        return (Finding(arm=_newest(rows), against="", ratio=None, n=0, said=no_answer(rows)),)
    if opened.own_ways or (beside is not None and beside.own_ways):
        said, but = own_ways_said(opened, beside)
        return (Finding(arm=_newest(rows), against="", ratio=None, n=0, said=said, but=but),)
    found = [] if beside is None else _across(opened, beside, rows)
    against = BASE.label if BASE.label in arms else arms[0]
    others = [arm for arm in dict.fromkeys([_newest(rows), *reversed(arms)]) if arm != against]
    counted = cold_steps(opened)
    own = [_finding(opened, paired(counted, counted, against, arm)) for arm in others]
    found += own if opened.info.experiment == "live" else _fastest_first(own)
    found.sort(key=lambda each: each.arm == each.against)
    return tuple(found) or (_alone(against, len(rows)),)


def _fastest_first(found: list[Finding]) -> list[Finding]:
    """Of a run that compares several arms; the best of many is partly luck, and that is said."""
    ordered = sorted(found, key=lambda each: -(each.ratio or 0.0))
    if len(ordered) < 2:
        return ordered
    luck = f"The fastest of {len(ordered)} arms; the best of several is partly luck."
    return [replace(ordered[0], but=(*ordered[0].but, luck)), *ordered[1:]]


def _across(opened: Opened, beside: Opened, rows: pd.DataFrame) -> list[Finding]:
    """This run's arms against those of the run beside, of each the newest first; of two without a step in common no
    word, unless there is nothing else to say."""
    theirs = cold_sent(beside)
    if not len(theirs):
        return []
    there, here = cold_steps(beside), cold_steps(opened)
    found = [paired(there, here, other, arm) for arm in _newest_first(rows) for other in _newest_first(theirs)]
    return [_finding(opened, pairs, beside) for pairs in [each for each in found if each.n] or found[:1]]


def _newest_first(rows: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys([_newest(rows), *in_order(rows["arm"])]))


def _newest(rows: pd.DataFrame) -> str:
    """The arm of the step that was sent last."""
    return str(rows.sort_values("t_send")["arm"].iloc[-1])


def _finding(opened: Opened, pairs: Pairs, beside: Opened | None = None) -> Finding:
    few = () if pairs.n >= MIN_PAIRS or not pairs.n else (f"{pairs.n_words}: {TOO_FEW}.",)
    verdict = verdict_of(opened, pairs, beside)
    told = (f"{capital(verdict)}.",) if verdict else ()
    return Finding(
        arm=pairs.arm,
        against=pairs.against,
        ratio=pairs.ratio,
        n=pairs.n,
        said=with_sureness(headline(pairs), pairs, verdict, beside, busy=busy_cores(opened, pairs, beside) > 0),
        because=evidence(pairs) if pairs.n else (),
        but=told + few + caveats(opened, pairs, beside),
        verdict=verdict_head(verdict),
    )


def _alone(arm: str, n: int) -> Finding:
    steps = "1 step" if n == 1 else f"{n} steps"
    said = f"{steps} under {arm} so far, and nothing to compare with: a ratio needs a second arm on the same steps."
    return Finding(arm=arm, against="", ratio=None, n=0, said=said)
