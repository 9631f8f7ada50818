"""A curve of a distribution, and what is written around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labkit.analysis.distribution import Distribution, Timed
from labkit.analysis.format import seconds
from labkit.plots.frame import Caption
from labkit.plots.rows import counted

_TITLES: dict[Timed, str] = {
    "ttft": "How many requests had their first token within a time?",
    "e2e": "How many requests were answered within a time?",
    "itl": "How many gaps in the stream were within a time?",
}
AXES: dict[Timed, str] = {
    "ttft": "time to first token (s)",
    "e2e": "send to last byte (s)",
    "itl": "gap between chunks (s)",
}
OF: dict[Timed, str] = {"ttft": "request", "e2e": "request", "itl": "gap"}
_LEFT = 0.02
_FEW = 3


@dataclass(frozen=True, kw_only=True)
class EcdfCurve:
    """One arm; `run`: `A` or `B` where two runs are drawn, else empty."""

    of: Distribution
    run: str = ""

    @property
    def name(self) -> str:
        return f"{self.run}: {self.of.arm}" if self.run else self.of.arm


def begin(curves: Sequence[EcdfCurve]) -> float:
    """Where the first 2 % of some curve is reached: what is shorter would take most of a logarithmic axis."""
    return min(next(s for s, share in zip(c.of.seconds, c.of.shares, strict=True) if share >= _LEFT) for c in curves)


def _counts(curves: Sequence[EcdfCurve], what: str) -> str:
    """n, once when it is the same for every curve."""
    of = sorted({curve.of.n for curve in curves})
    each = "run" if curves[0].run else "arm"
    if len(of) == 1:
        return f"{of[0]:,} {what}{'s' * (of[0] != 1)} per {each}"
    if len(curves) > _FEW:
        return f"{of[0]:,} to {of[-1]:,} {what}s per {each}"
    return ", ".join(f"{c.of.n:,} {f'in run {c.run}' if c.run else c.of.arm}" for c in curves)


def caption(curves: Sequence[EcdfCurve], timed: Timed, log: bool) -> Caption:
    title, what = _TITLES[timed], OF[timed]
    if not curves:
        return Caption(title=title, empty=f"No {what} was measured, so there is nothing to count.")
    lost = sum(curve.of.n_lost for curve in curves)
    cut = log and any(curve.of.seconds[0] < begin(curves) for curve in curves)
    said = (
        f"n = {_counts(curves, what)}. Mark: half of all {what}s.",
        f"{counted(lost, 'request')} failed: sent, never answered." if lost else "",
        "Log scale." if log else "",
        "The shortest 2 % lie left of it." if cut else "",
    )
    alt = "; ".join(f"{each.name}: half within {seconds(each.of.median)} (n {each.of.n:,})" for each in curves)
    return Caption(title=title, note=" ".join(filter(None, said)), alt=f"Share of {what}s by time. {alt}")
