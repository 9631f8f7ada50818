"""What the sampler reads: anything with a name that gives readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Reading:
    """One value now. `value` None: could not be read."""

    name: str
    unit: str
    value: float | None


class Source(Protocol):
    """`name`: as SampleRecord.source has it: host, client or `<engine>/<role>`."""

    @property
    def name(self) -> str: ...

    async def read(self) -> Sequence[Reading]:
        """The values now. May raise: the sampler records the fault and goes on."""
        ...


@runtime_checkable
class Foretelling(Source, Protocol):
    """A source that can name its readings before it was ever read."""

    def blanks(self) -> Sequence[Reading]:
        """Its readings, all null."""
        ...
