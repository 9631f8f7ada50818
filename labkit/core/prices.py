"""What a machine costs, as plain data: each number with its unit and where it came from.

A cost is mostly assumptions, so a price is a list of figures that can be printed one by one. A figure either has a
source that others can read, or says that it is an assumption of this lab.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from labkit.core.errors import BadInput
from labkit.core.names import pick

PriceKind = Literal["rent", "own"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number that a cost rests on. `source`: an address, or for an assumption the reason. `date`: when it held."""

    name: str
    value: float
    unit: str
    meaning: str
    source: str
    date: str
    assumption: bool
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Price:
    """One machine at one price. `gpus`: in the machine, all of which are paid for; 0 for one without.

    `profiles`: the profiles that run on such a machine. `figures`: everything that its cost an hour is made of.
    """

    name: str
    about: str
    kind: PriceKind
    gpus: int
    profiles: tuple[str, ...]
    figures: tuple[Figure, ...]

    def value(self, figure: str) -> float:
        """The value of a figure. Raises UnknownName."""
        known = {each.name: each.value for each in self.figures}
        return pick("figure", figure, known, "labkit cost --list")

    def is_of(self, profile: str) -> bool:
        """Whether this profile runs on such a machine; a variant (`NAME+...`) runs on that of its profile."""
        return profile.partition("+")[0] in self.profiles

    def with_value(self, figure: str, value: float, source: str, date: str) -> Price:
        """The same price with one figure replaced; `source` says by whom."""
        self.value(figure)
        changed = (
            dataclasses.replace(each, value=value, source=source, date=date, assumption=True, note="")
            if each.name == figure
            else each
            for each in self.figures
        )
        return dataclasses.replace(self, figures=tuple(changed))


@dataclass(frozen=True)
class Prices(Mapping[str, Price]):
    """Prices by name, in the order of their file."""

    entries: Mapping[str, Price]

    def __getitem__(self, name: str) -> Price:
        return self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def named(self, name: str) -> Prices:
        """The one price with this name. Raises UnknownName with the nearest names."""
        return Prices({name: pick("price", name, self.entries, "labkit cost --list")})

    def of_profile(self, profile: str) -> Prices:
        """The prices of machines that this profile, or the one that it varies, runs on; empty when none is known."""
        return Prices({name: price for name, price in self.entries.items() if price.is_of(profile)})

    def named_like(self, profile: str) -> list[str]:
        """Names of prices that begin with the profile's GPU, those of as many GPUs first: `mi300x-8-...`."""
        gpu, _, rest = profile.partition("-")
        alike = [name for name in self.entries if gpu and name.partition("-")[0] == gpu]
        return sorted(alike, key=lambda name: name.split("-")[1:2] != rest.split("-")[:1])

    def with_values(self, values: Mapping[str, float], source: str, date: str) -> Prices:
        """Figures replaced in every price that has them. Raises BadInput for one that no price here has."""
        entries = dict(self.entries)
        for figure, value in values.items():
            having = [name for name, price in entries.items() if figure in {each.name for each in price.figures}]
            if not having:
                known = sorted({each.name for price in entries.values() for each in price.figures})
                raise BadInput("set", figure, f"a figure of {', '.join(entries)}: {', '.join(known)}")
            for name in having:
                entries[name] = entries[name].with_value(figure, value, source, date)
        return Prices(entries)
