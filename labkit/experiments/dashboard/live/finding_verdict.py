"""How sure a finding is, in the first line of it: with the words that every page has for the same pairs.

One pass has no interval, so it is a first look. With more the verdict is that of the same arm against the same other
arm elsewhere (`layers_gain`), so that no page says flatly what another one calls too few to tell.
"""

from __future__ import annotations

from labkit.analysis.arms import MIN_PAIRS
from labkit.analysis.effect_words import TOO_FEW
from labkit.experiments.dashboard.layers.gain import twin_gain
from labkit.experiments.dashboard.live.pairs import Pairs
from labkit.experiments.dashboard.live.two_arms import cold_steps
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import verdict_head


def verdict_of(opened: Opened, pairs: Pairs, beside: Opened | None) -> str:
    """In full, of the time of a step; empty where there is no interval to judge by: in one pass, between two runs."""
    if beside is not None or pairs.laps <= 1 or pairs.n < MIN_PAIRS:
        return ""
    return twin_gain("e2e_s", cold_steps(opened), opened.chunks.iloc[:0], pairs.arm, pairs.against).verdict


def with_sureness(said: str, pairs: Pairs, verdict: str, beside: Opened | None, *, busy: bool = False) -> str:
    """A headline and how sure it is: `...1.96x faster (15.1 s → 7.7 s): a first look, one pass.`

    `busy`: others kept the machine busy meanwhile, which may be all that the ratio shows.
    """
    machine = ", on a busy machine" if busy else ""
    return f"{said.removesuffix('.')}: {_sureness(pairs, verdict, beside)}{machine}." if pairs.n else said


def _sureness(pairs: Pairs, verdict: str, beside: Opened | None) -> str:
    if pairs.n < MIN_PAIRS:
        return TOO_FEW
    passes = "one pass" if pairs.laps <= 1 else f"{pairs.laps} passes"
    if beside is not None:
        return f"a first look, {passes} in each of two runs"
    return f"{verdict_head(verdict)}, {passes}" if verdict else f"a first look, {passes}"
