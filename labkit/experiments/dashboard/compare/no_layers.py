"""What is said of a run in which no layer can be compared with its absence: what it was for, and where to look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from labkit.experiments.dashboard.compare.compare import Kind, Scope
from labkit.experiments.dashboard.compare.doubts import Doubt
from labkit.experiments.dashboard.compare.gain_words import arm_in_words
from labkit.experiments.dashboard.compare.meant import Meaning
from labkit.experiments.report.english import capital, counted, listed

_NOT_GAINS = "Do not take the curves below for gains of a layer: no two settings answered the same requests."


def no_layers(scope: Scope, doubts: Sequence[Doubt] = ()) -> Meaning:
    """By what the run was for."""
    return _OF[scope.kind](scope, tuple(doubts))


def _nothing(scope: Scope, doubts: tuple[Doubt, ...]) -> Meaning:
    if scope.state == "running":
        return Meaning(finding="Nothing was measured yet.", caution="The first answers take a moment.", doubts=doubts)
    why = next(iter(scope.note.splitlines()), "").rstrip(".")
    ended = f"The run is {scope.state}: {why}. " if why else ""
    return Meaning(
        finding="No request got an answer in this run, so it says nothing."
        if scope.n
        else "Nothing was measured in this run, so it answers nothing.",
        caution=f"{ended}Pick another run, or ask again on the Live page.",
        page="live",
        doubts=doubts if scope.n else (),
    )


def _one_arm(scope: Scope, doubts: tuple[Doubt, ...]) -> Meaning:
    n = counted(scope.n, "request")
    if len(scope.arms) > 1:
        finding = f"{listed(scope.arms)} were measured, but on no request in common, so nothing can be compared."
        caution = "Do not take the curves below for gains of a layer."
    elif scope.arms:
        name = arm_in_words(scope.arms[0])
        finding = f"Only {name} was measured ({n}), so there is nothing to compare it with."
        caution = "For a gain, pick a second run, or ask the same requests with and without a layer on the Live page."
    else:
        finding = f"A script without an engine answered ({n}), so no setting was measured."
        caution = "Pick another run: this one has no times of an engine."
    return Meaning(finding=capital(finding), caution=caution, doubts=doubts)


def _load(scope: Scope, doubts: tuple[Doubt, ...]) -> Meaning:
    asked = "how many agents are served well" if scope.experiment == "capacity" else "how agents slow each other down"
    finding = (
        f"This run asked {asked}, so each agent took its requests as they came, {counted(scope.n, 'request')} in all."
    )
    return Meaning(finding=finding, caution=_NOT_GAINS, doubts=doubts, page="capacity")


def _agents(scope: Scope, doubts: tuple[Doubt, ...]) -> Meaning:
    said = f": {listed(scope.said)}" if scope.said else ""
    finding = f"Here agents worked live, and each went its own way{said}."
    return Meaning(finding=finding, caution=_NOT_GAINS, doubts=doubts, page="trajectory")


def _drafters(scope: Scope, doubts: tuple[Doubt, ...]) -> Meaning:
    finding = "This run asked which way to draft tokens pays, but no request finished both with and without drafting."
    return Meaning(finding=finding, caution=_NOT_GAINS, doubts=doubts, page="layers")


_OF: Mapping[Kind, Callable[[Scope, tuple[Doubt, ...]], Meaning]] = {
    "nothing": _nothing,
    "one arm": _one_arm,
    "load": _load,
    "agents": _agents,
    "drafters": _drafters,
    "layers": _one_arm,
}
