"""Reading prices: `data/prices.toml`, or a file of one's own, checked field by field.

A price is rented or owned, and each kind has the figures that its cost an hour needs, no more and no fewer: what an
hour costs must not depend on a figure that somebody forgot.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from labkit.core.errors import BadInput
from labkit.core.paths import data_dir
from labkit.core.prices import Figure, Price, PriceKind, Prices
from labkit.store.price_file import HINT, FigureFields, PriceFields, read_prices


class _Meaning(NamedTuple):
    """A figure's unit, its meaning, and the values that it may have: `low` <= or < value <= `high`."""

    unit: str
    meaning: str
    low: float = 0.0
    high: float = float("inf")
    above: bool = False


_SHARED = {"utilisation": _Meaning("", "share of the paid hours in which it works for you", high=1.0, above=True)}
FIGURES: dict[PriceKind, dict[str, _Meaning]] = {
    "rent": {"rent_per_gpu_hour": _Meaning("USD/h", "rent of one GPU for an hour"), **_SHARED},
    "own": {
        "hardware_price": _Meaning("USD", "price of the whole machine", above=True),
        "years": _Meaning("years", "years until it is written off", above=True),
        **_SHARED,
        "upkeep": _Meaning("1/year", "space, network and hands a year, as a share of the hardware price"),
        "power": _Meaning("W", "power of the whole machine while it works"),
        "power_price": _Meaning("USD/kWh", "price of electricity"),
        "pue": _Meaning("", "power of the building over power of the machine", low=1.0),
    },
}
"""What each kind of price is made of."""


def load_prices(path: Path | None = None) -> Prices:
    """The prices of the project, or of the TOML file at `path`. Raises BadInput naming file, field and value."""
    path = path or data_dir() / "prices.toml"
    return Prices({name: _price(path, name, fields) for name, fields in read_prices(path).items()})


def _price(path: Path, name: str, read: PriceFields) -> Price:
    figures = _figures(f"{path.name}: {name}", read)
    about = {"about": read.about, "kind": read.kind, "gpus": read.gpus, "profiles": read.profiles}
    return Price(name=name, figures=figures, **about)  # type: ignore[arg-type]


def _figures(where: str, read: PriceFields) -> tuple[Figure, ...]:
    meanings = FIGURES[read.kind]
    if set(read.figures) != set(meanings):
        allowed = f"for kind = {read.kind!r} exactly {', '.join(meanings)}"
        raise BadInput(f"{where}.figures", sorted(read.figures), allowed, HINT)
    return tuple(_figure(where, name, meaning, read.figures[name]) for name, meaning in meanings.items())


def _figure(where: str, name: str, meaning: _Meaning, read: FigureFields) -> Figure:
    check(f"{where}.figures.{name}.value", read.value, meaning)
    return Figure(
        name=name,
        value=read.value,
        unit=meaning.unit,
        meaning=meaning.meaning,
        source=read.source or read.assumption,
        date=read.date,
        assumption=bool(read.assumption),
        note=read.note,
    )


def check(field: str, value: float, meaning: _Meaning) -> None:
    """Raises BadInput when a figure cannot have this value."""
    too_low = value <= meaning.low if meaning.above else value < meaning.low
    if too_low or not value <= meaning.high or value == float("inf"):
        low = f"{'above' if meaning.above else 'at least'} {meaning.low:g}"
        high = "" if meaning.high == float("inf") else f", at most {meaning.high:g}"
        raise BadInput(field, value, f"{low}{high} ({meaning.meaning})")


def set_values(prices: Prices, settings: list[str], date: str) -> Prices:
    """`name=value` settings of a command line over the prices. Raises BadInput."""
    named = (setting.partition("=") for setting in settings)
    values = {name.strip(): _number(setting, text) for setting, (name, _, text) in zip(settings, named, strict=True)}
    return edited(prices, values, "set on the command line", date)


def edited(prices: Prices, values: Mapping[str, float], source: str, date: str) -> Prices:
    """Figures replaced in every price that has them; `source` says by whom. Raises BadInput."""
    known = {name: meaning for kind in FIGURES.values() for name, meaning in kind.items()}
    for name, value in values.items():
        if name in known:
            check(name, value, known[name])
    return prices.with_values(values, source, date)


def _number(setting: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadInput("set", setting, "name=number, such as rent_per_gpu_hour=2.1") from error
