"""Reading prices: `data/prices.toml`, or a file of one's own, checked field by field.

A price is rented or owned, and each kind has the figures that its cost an hour needs, no more and no fewer: what an
hour costs must not depend on a figure that somebody forgot.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from labkit.core.errors import BadInput
from labkit.core.paths import data_dir
from labkit.core.prices import Figure, Price, PriceKind, Prices

_HINT = "Compare it with data/prices.toml, where every field has its meaning."


_ALLOWED = {
    "about": "a text: what machine, and how it is paid for",
    "kind": "'rent' or 'own'",
    "gpus": "a whole number, 0 or more",
    "profiles": "a list of names of profiles, in brackets",
    "figures": "a table [NAME.figures] with a line for each figure",
    "value": "a number",
    "source": "an address that starts with https://, in quotes",
    "assumption": "a text: the reason",
    "date": "YYYY-MM or YYYY-MM-DD, in quotes",
    "note": "a text",
}
"""What a field of the file may be, by its name."""


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


class _Figure(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float
    source: str = Field(default="", pattern=r"^(https?://\S+)?$")
    assumption: str = ""
    date: str = Field(pattern=r"^\d{4}-\d{2}(-\d{2})?$")
    note: str = ""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if bool(self.source) == bool(self.assumption):
            raise ValueError("give either `source` (an address) or `assumption` (the reason)")
        return self


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    kind: Literal["rent", "own"]
    gpus: Annotated[int, Field(ge=0)]
    profiles: tuple[str, ...] = ()
    figures: dict[str, _Figure]


def load_prices(path: Path | None = None) -> Prices:
    """The prices of the project, or of the TOML file at `path`. Raises BadInput naming file, field and value."""
    path = path or data_dir() / "prices.toml"
    tables = _tables(path)
    return Prices({name: _price(path, name, table) for name, table in tables.items()})


def _tables(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput("prices", str(path), "a file that can be read", _HINT) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(str(path), str(error), "a TOML file", _HINT) from error
    if not tables:
        raise BadInput(str(path), "no price", "at least one table such as [my-node]", _HINT)
    return tables


def _price(path: Path, name: str, table: object) -> Price:
    try:
        read = _Price.model_validate(table)
    except ValidationError as error:
        raise _wrong(path, name, error.errors()[0]) from error
    figures = _figures(f"{path.name}: {name}", read)
    about = {"about": read.about, "kind": read.kind, "gpus": read.gpus, "profiles": read.profiles}
    return Price(name=name, figures=figures, **about)  # type: ignore[arg-type]


def _wrong(path: Path, name: str, error: ErrorDetails) -> BadInput:
    """What pydantic found, in words of this file."""
    where = [name, *map(str, error["loc"])]
    value: object = error["input"]
    if error["type"] == "missing":
        value = None
    allowed = _ALLOWED.get(where[-1], "a table such as [my-node]")
    if error["type"] == "value_error":
        value, allowed = "both or neither", str(error["ctx"]["error"])
    elif error["type"] == "extra_forbidden":
        fields = _Figure.model_fields if len(where) > 2 else _Price.model_fields
        allowed = f"only {', '.join(fields)}"
    return BadInput(f"{path.name}: {'.'.join(where)}", value, allowed, _HINT)


def _figures(where: str, read: _Price) -> tuple[Figure, ...]:
    meanings = FIGURES[read.kind]
    if set(read.figures) != set(meanings):
        allowed = f"for kind = {read.kind!r} exactly {', '.join(meanings)}"
        raise BadInput(f"{where}.figures", sorted(read.figures), allowed, _HINT)
    return tuple(_figure(where, name, meaning, read.figures[name]) for name, meaning in meanings.items())


def _figure(where: str, name: str, meaning: _Meaning, read: _Figure) -> Figure:
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
