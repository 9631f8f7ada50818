"""Prices that a page may change: what each figure is listed at, where that is from, and what somebody put in its place.

An edit lives in the page's address and nowhere else, and a price that has one says so in its name: no figure and no
sentence can show an edited cost as if it were the listed one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.analysis.format import usd
from labkit.analysis.hourly import hourly
from labkit.core.clock import SystemClock
from labkit.core.prices import Figure, Price
from labkit.store.prices import edited, load_prices

Edits = tuple[tuple[str, float], ...]
"""Figure and value, in the order of the price's figures."""
NO_EDIT: Edits = ()
_BY = "put in on this page"


@dataclass(frozen=True, kw_only=True)
class FigureInput:
    """One figure that may be changed. `origin`: who says the listed value, and when; `assumed`: nobody but the lab."""

    name: str
    label: str
    listed: float
    origin: str
    assumed: bool


@dataclass(frozen=True, kw_only=True)
class PriceChoice:
    """One price of the list. `label`: what machine, paid for how; `fits`: the run's profile runs on such a machine."""

    name: str
    label: str
    fits: bool


def choices(profile: str) -> tuple[PriceChoice, ...]:
    """Every price, those of this profile's machine first. Raises BadInput for a file that is wrong."""
    fitting = [
        PriceChoice(name=name, label=f"{name}: {price.about}", fits=profile in price.profiles)
        for name, price in load_prices().items()
    ]
    return tuple(sorted(fitting, key=lambda choice: not choice.fits))


def inputs(price: str) -> tuple[FigureInput, ...]:
    """The figures that this price is made of, as listed. Raises UnknownName."""
    return tuple(_input(figure) for figure in load_prices().named(price)[price].figures)


def priced(price: str, edits: Edits = NO_EDIT) -> Price:
    """The price with the edits; then its name says which. Raises UnknownName, and BadInput for an impossible value.

    An edit that repeats the listed value is none; one of a figure that this price has not is left out.
    """
    listed = load_prices().named(price)
    changes = {name: value for name, value in edits if _changes(listed[price], name, value)}
    today = SystemClock().wall().date().isoformat()
    found = edited(listed, changes, _BY, today)[price]
    words = "; ".join(f"{_short(listed[price], name)} {value:g} instead of {listed[price].value(name):g}"
                      for name, value in changes.items())  # fmt: skip
    return dataclasses.replace(found, name=f"{price}, edited: {words}") if words else found


def an_hour(price: Price) -> str:
    """`$0.185 an hour of work (hardware $0.171 + power $0.0135)`."""
    parts = {name: value for name, value in vars(hourly(price)).items() if value}
    made_of = f" ({' + '.join(f'{name} {usd(value)}' for name, value in parts.items())})" if len(parts) > 1 else ""
    return f"{usd(hourly(price).total)} an hour of work{made_of}"


def resting_on(price: Price) -> str:
    """How many of its figures are assumptions and how many are listed by somebody: `1 list price, 6 assumptions`."""
    put_in = sum(figure.source == _BY for figure in price.figures)
    assumed = sum(figure.assumption for figure in price.figures) - put_in
    listed = len(price.figures) - assumed - put_in
    counts = ((listed, "figure with a source"), (assumed, "assumption"), (put_in, "figure of yours"))
    return ", ".join(f"{n} {_many(what, n)}" for n, what in counts if n)


def _many(what: str, n: int) -> str:
    head, _, rest = what.partition(" ")
    return what if n == 1 else f"{head}s {rest}".rstrip()


def _changes(price: Price, name: str, value: float) -> bool:
    return any(figure.name == name and figure.value != value for figure in price.figures)


def _short(price: Price, name: str) -> str:
    unit = next(figure.unit for figure in price.figures if figure.name == name)
    return f"{name.replace('_', ' ')} ({unit})" if unit else name.replace("_", " ")


def _input(figure: Figure) -> FigureInput:
    unit = f", {figure.unit}" if figure.unit and figure.unit not in figure.meaning.lower() else ""
    where = f"Assumption: {figure.source}" if figure.assumption else f"Source: {figure.source}"
    note = f" ({figure.note})" if figure.note else ""
    return FigureInput(
        name=figure.name,
        label=f"{figure.meaning[0].upper()}{figure.meaning[1:]}{unit}",
        listed=figure.value,
        origin=f"{figure.value:,g} as of {figure.date}. {where}{note}.",
        assumed=figure.assumption,
    )


def known_edits(values: Sequence[tuple[str, float | None]]) -> Edits:
    """The inputs that hold a number."""
    return tuple((name, value) for name, value in values if value is not None)
