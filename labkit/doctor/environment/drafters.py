"""Are the drafters' models here? The default drafter's is loaded in every arm with speculation, beside the model."""

from __future__ import annotations

from labkit.doctor.environment.model import unfetchable
from labkit.doctor.facts import Drafter, Facts
from labkit.doctor.records import Check, Status
from labkit.doctor.runnable import grouped, with_layer

_GB = 1_000_000_000
_ARMS = with_layer("speculation")


def drafter(facts: Facts) -> list[Check]:
    """The model of the profile's default drafter, where it has one of its own."""
    return [_default(each) for each in facts.drafters if each.default]


def _default(each: Drafter) -> Check:
    model, whole = each.weights, not each.weights.problem
    status: Status = "ok" if whole else "fail" if model.hub is None or unfetchable(model.hub) else "warn"
    said = f"{model.name}: ready{_where(each)}" if whole else model.problem
    return Check(
        name="Drafter's weights",
        area="environment",
        status=status,
        found=f"{each.method}, the default: {said}" + ("" if whole else f"; {grouped(_ARMS)} need it"),
        why="An engine with speculation loads it beside the model, and ends where it is not to be had."
        + (" It would fetch it itself, within the time of its first start." if model.hub else ""),
        todo="" if whole else "Fetch it before the first of these arms.",
        command="" if whole else f"labkit models fetch {model.name}",
        stops=_ARMS if status == "fail" else (),
    )


def others(facts: Facts) -> list[Check]:
    """The models of the drafters that an experiment has to ask for: where they are, which is no fault."""
    asked_for = [each for each in facts.drafters if not each.default]
    if not asked_for:
        return []
    return [
        Check(
            name="Other drafters",
            area="environment",
            status="ok",
            found="; ".join(f"{each.method}: {each.weights.name} is {_state(each)}" for each in asked_for),
            why="Only an experiment that asks for one of them (--spec-method) needs its model; fetch it before that.",
        )
    ]


def _state(each: Drafter) -> str:
    return "not here yet" if each.weights.problem else f"ready{_where(each)}"


def _where(each: Drafter) -> str:
    model = each.weights
    size = f", {model.size.size / _GB:.1f} GB" if model.size else ""
    return f" (in the hub's cache{size})" if model.hub else ""
