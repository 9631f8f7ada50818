"""Speculation's section in words: each drafter's numbers, the sentence, and the numbers beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labkit.analysis.acceptance import Acceptance
from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.format import DASH, count, percent, plain, times
from labkit.experiments.dashboard.layers.costs import Cost
from labkit.experiments.dashboard.layers.gain import speed_words
from labkit.experiments.dashboard.layers.words import Fact
from labkit.experiments.report.english import counted


@dataclass(frozen=True, kw_only=True)
class Drafter:
    """One drafter's numbers: what was accepted, the gain in decode time, and the verdict on the whole time."""

    name: str
    accepted: Acceptance
    decode_gain: float | None = None
    gain: float | None = None
    verdict: str = TOO_FEW
    n_pairs: int = 0


def finding(arm: str, found: tuple[Drafter, ...], costs: tuple[Cost, ...], twin: str, *, pinned: bool = False) -> str:
    """What speculation did, in one sentence."""
    told = [(one, its) for one, its in zip(found, costs, strict=True) if one.accepted.drafted]
    if not told:
        if pinned:
            return (
                f"Under {arm} every reply had a pinned length: a model that may not stop says what it never would, so "
                "nothing can be said of what is accepted. Natural replies can tell."
            )
        return f"Under {arm} the engine did not say what it drafted, so nothing can be told."
    if len(told) > 1:
        return f"Under {arm}, {'; '.join(_short(one) for one, _ in told)}, all against {twin}."
    return f"Under {arm}, {_clause(*told[0], twin)}."


def _clause(one: Drafter, its: Cost, twin: str) -> str:
    of = one.accepted
    head = f"{one.name} drafted {count(of.drafted)} tokens, of which {percent(of.rate)} were accepted"
    if one.decode_gain is None:
        return head
    decode = speed_words(one.decode_gain, twin, "decoding took", "decoding was")
    whole = "" if one.gain is None else f", the whole step {_pace(one.gain)} ({one.verdict})"
    return f"{head}; {decode}{whole}; {its.words}"


def _short(one: Drafter) -> str:
    """Of one drafter among several."""
    decode = "" if one.decode_gain is None else f" and decoding {_pace(one.decode_gain)} ({one.verdict})"
    return f"{one.name} had {percent(one.accepted.rate)} accepted{decode}"


def _pace(gain: float) -> str:
    return f"{times(gain)} as fast" if gain >= 1 else f"{times(1 / gain)} as long"


def facts(found: tuple[Drafter, ...], costs: tuple[Cost, ...]) -> tuple[Fact, ...]:
    """The numbers beside the sentence; one value per drafter where there are several."""
    lost = sum(its.n_lost for its in costs)
    n = sum(its.n for its in costs)
    other = sum(its.n_other for its in costs)
    left_out = f" {counted(other, 'pair')} with replies of different lengths are left out." if other else ""
    return (
        Fact(
            label="Accepted",
            value=_each(found, lambda one: percent(one.accepted.rate)),
            note=_names(found) or f"n = {counted(sum(one.accepted.n for one in found), 'step')}",
            help="Accepted / drafted tokens, weighted by tokens, of replies of natural length.",
        ),
        Fact(
            label="Tokens per round",
            value=_each(found, lambda one: plain(one.accepted.length)),
            note="acceptance length",
            help="1 + accepted tokens / verification rounds. The 1 is the token that a round yields in any case.",
        ),
        Fact(
            label="Drafted",
            value=_each(found, lambda one: count(one.accepted.drafted)),
            note=f"{_each(found, lambda one: count(one.accepted.accepted))} accepted",
            help="Draft tokens that were proposed, and those of them that were accepted.",
        ),
        Fact(
            label="Decode gain",
            value=_each(found, lambda one: times(one.decode_gain)),
            note=_verdicts(found),
            help="Time from first to last token without / with drafts, on the same requests: over 1x is faster. The "
            "verdict is on the whole time of a step.",
        ),
        Fact(
            label="Slower steps",
            value=f"{lost} of {n}" if n else DASH,
            note="paired steps" if n else "not paired",
            help=f"Steps whose decoding took longer with drafts than without, on the same request.{left_out}",
        ),
    )


def _each(found: tuple[Drafter, ...], shown: Callable[[Drafter], str]) -> str:
    return " / ".join(shown(one) for one in found) or DASH


def _names(found: tuple[Drafter, ...]) -> str:
    return " / ".join(one.name for one in found) if len(found) > 1 else ""


def _verdicts(found: tuple[Drafter, ...]) -> str:
    return " / ".join(dict.fromkeys(one.verdict for one in found if one.n_pairs)) or "not paired"
