"""What a table of costs assumes without saying so, and what each assumption moves, one at a time.

The cost of a task run of one arm is split by what its seconds went to, and each assumption changes one thing of it:

    usd = usd_per_hour / 3600 * (prefill + decode + other) / task runs

Some ends are measured in this lab; the others are assumed, and say so. Whoever knows better puts in their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.effect_words import SAME
from labkit.analysis.format import count, percent, seconds, times, usd
from labkit.analysis.hourly import hourly
from labkit.core.prices import Price, PriceKind
from labkit.experiments.lessons.company import Company
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.lessons.spent import Spent

IDLE = 0.1
"""A machine that works in a tenth of its paid hours."""
SOLVED = 0.5
"""Half of the tasks solved."""
LAYERS, MACHINE = "the layers", ("price of the machine", "hours that are paid and not used", "agents at once")
_WHY_PRICE: dict[PriceKind, str] = {
    "rent": "assumed; what sellers ask for one GPU differs by as much (data/prices.toml)",
    "own": "assumed; your own quotation says it",
}


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """`low`, `high`: the cost at either end, over what it is now. `measured`: the ends are; else they are assumed.

    `here`: what this run has; `ends`: what it is varied to; `why`: where these are from.
    """

    name: str
    here: str
    ends: str
    low: float
    high: float
    measured: bool
    why: str

    @property
    def swing(self) -> float:
        """How many times the cost at one end is that at the other."""
        return self.high / self.low


def assumptions(
    arm: Spent, base: Spent, price: Price, over: float, company: Company | None = None
) -> tuple[Assumption, ...]:
    """Of the cost of a task run of `arm`, those that move it most first; without those that move nothing.

    `over`: what a task run costs in base, over what it costs in `arm`, as the table of costs has it.
    `company`: several agents at once, where that was measured.
    """
    found = [*_of_machine(price, company), *_of_tokens(arm, base, over), *_of_tasks(arm)]
    moving = [one for one in found if not math.isclose(one.low, one.high, rel_tol=1e-3)]
    return tuple(sorted(moving, key=lambda one: one.swing, reverse=True))


def _of_machine(price: Price, company: Company | None) -> Iterator[Assumption]:
    name = "rent_per_gpu_hour" if price.kind == "rent" else "hardware_price"
    listed, paid = price.value(name), price.value("utilisation")
    half, double = (_hour_over(price, name, listed * by) for by in (0.5, 2.0))
    why = _WHY_PRICE[price.kind]
    yield Assumption(
        name=MACHINE[0], here=f"{listed:,g} USD", ends="half to double", low=half, high=double, measured=False, why=why
    )
    full, idle = (_hour_over(price, "utilisation", share) for share in (1.0, IDLE))
    why = "assumed: from every paid hour at work to one in ten"
    yield Assumption(
        name=MACHINE[1], here=f"at work {percent(paid)} of them", ends=f"100 % to {percent(IDLE)} at work",
        low=min(full, idle), high=max(full, idle), measured=False, why=why,
    )  # fmt: skip
    if company:
        why = f"measured in {company.arm}, in the run under load"
        yield _of(MACHINE[2], "one", f"1 to {company.agents}", company.over_one, why)


def _hour_over(price: Price, figure: str, value: float) -> float:
    return hourly(price.with_value(figure, value, "varied", "")).total / hourly(price).total


def _of_tokens(arm: Spent, base: Spent, over: float) -> Iterator[Assumption]:
    whole = arm.total_s
    yield _of(LAYERS, arm.arm, f"{arm.arm} to {base.arm}", over, "measured, on the same requests")
    as_base = base.prefill_s + whole - arm.prefill_s
    why = "measured: prefill as base had it, when every prompt token is charged as a computed one"
    yield _of(
        "cached tokens priced as computed", f"{count(arm.cached)} cached", "apart, or alike", as_base / whole, why
    )
    shorter, longer = ((whole + arm.prefill_s * more) / whole for more in (-0.5, 1.0))
    yield Assumption(
        name="input to output", here=_mix(arm), ends="prompts half to twice as long", low=shorter, high=longer,
        measured=False, why="assumed ends; that prefill grows with the prompt is measured",
    )  # fmt: skip
    if arm.thrown and arm.generated:
        more = 1 + arm.decode_s * arm.thrown / arm.generated / whole
        why = "measured: drafts that were not accepted, charged like tokens that were said"
        yield _of("rejected drafts priced as output", f"{count(arm.thrown)} rejected", "free, or charged", more, why)


def _of_tasks(arm: Spent) -> Iterator[Assumption]:
    why = f"assumed: per solved task, when all are solved or {percent(SOLVED)} of them"
    yield Assumption(
        name="failed tasks left out", here="nobody checked", ends=f"100 % to {percent(SOLVED)} solved", low=1.0,
        high=1 / SOLVED, measured=False, why=why,
    )  # fmt: skip
    if arm.tool_s:
        more = 1 + arm.tool_s / arm.total_s
        yield _of("waiting for tools", seconds(arm.tool_s), "left out, or paid for", more, "measured when recorded")


def _mix(arm: Spent) -> str:
    if not arm.generated or arm.computed is None or arm.cached is None:
        return "not told"
    return f"{(arm.computed + arm.cached) / arm.generated:.0f} read for each written"


def _of(name: str, here: str, ends: str, other: float, why: str) -> Assumption:
    """An assumption with one end where the run is; the other end was measured."""
    return Assumption(
        name=name, here=here, ends=ends, low=min(1.0, other), high=max(1.0, other), measured=True, why=why
    )


def in_words(found: tuple[Assumption, ...], usd_per_task: float) -> pd.DataFrame:
    """The assumptions as they are read, with what a task run costs at either end."""
    return pd.DataFrame(
        [
            {
                "assumption": one.name,
                "in this run": one.here,
                "varied": one.ends,
                "a task costs": f"{usd(one.low * usd_per_task)} to {usd(one.high * usd_per_task)}",
                "moves it": times(one.swing),
                "ends from": one.why,
            }
            for one in found
        ]
    )


def as_table(found: tuple[Assumption, ...]) -> pd.DataFrame:
    """Columns name, ends, low, high, measured: what `labkit.plots.tornado` draws."""
    return pd.DataFrame([vars(one) for one in found], columns=["name", "ends", "low", "high", "measured"])


def measured_moves_more(found: tuple[Assumption, ...]) -> Outcome:
    """Whether something else that was measured moves the cost of a task more than all layers do, by over SAME.

    Assumed ends are left out: whoever chooses them chooses the answer.
    """
    layers = next((one for one in found if one.name == LAYERS), None)
    if layers is None:
        return unmeasured("no arm but base was measured, so the layers move nothing here")
    others = [one for one in found if one.measured and one.name != LAYERS]
    if not others:
        return unmeasured("nothing but the layers was measured at both ends")
    most = max(others, key=lambda one: one.swing)
    saw = (
        f"of what was measured, {most.name} ({most.ends}) moves the cost of a task most, {times(most.swing)}, and "
        f"{layers.name} ({layers.ends}) move it {times(layers.swing)}"
    )
    ratio = most.swing / layers.swing
    near = ", which is the same within 5 %" if abs(math.log(ratio)) < SAME else ""
    return Outcome(ratio > 1 and not near, f"{saw}{near}")
