"""What the Compare page shows of two runs: what differs between them, what may be paired, and what B gains over A."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.core.records import Cache
from labkit.experiments.comparison import RunComparison, Side, compare_sides, side_of
from labkit.experiments.dashboard.compare.compare import Passes
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import shown
from labkit.plots.theme import arm_order
from labkit.store.fingerprint import Difference

_HASH = re.compile(r"[0-9a-f]{32,}")
_SHORT = 12
_NAMES = {
    "git.commit": "labkit's commit",
    "git.dirty": "labkit's code was changed since",
    "git": "labkit's code",
    "packages": "package",
    "cpu": "processor",
    "gpu": "GPU",
    "memory_bytes": "memory",
    "kv_bytes_per_token": "bytes of KV cache a token",
    "recordings": "recording",
    "os": "system",
    "machine": "architecture",
}
_LIGHT = ("git", "labkit", "recordings")
"""What differs without making the machine or the engine another one."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that differs, in words. `heavy`: it may change a time by itself."""

    what: str
    a: str
    b: str
    heavy: bool = True


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """Whether a recording's requests are paired, and how that is known or why not."""

    recording: str
    paired: bool
    why: str


@dataclass(frozen=True, kw_only=True)
class TwoRuns:
    """`table`: columns of labkit.analysis.comparison.ComparisonRow. `ran_on`, `asked`: empty where nothing differs."""

    ran_on: tuple[Fact, ...]
    asked: tuple[Fact, ...]
    requests: tuple[Pairing, ...]
    table: pd.DataFrame

    @property
    def paired(self) -> bool:
        return any(one.paired for one in self.requests)

    @property
    def passes(self) -> tuple[Passes, ...]:
        """What both runs measured: cold before warm, then without a condition first, then most requests first."""
        groups: Any = self.table.groupby(["cache", "condition"], sort=False)
        found = [Passes(cache=cache, condition=name, n=int(rows["n_b"].sum())) for (cache, name), rows in groups]
        return tuple(sorted(found, key=lambda each: (each.cache, each.condition != "", -each.n)))

    def rows(self, cache: Cache, condition: str) -> pd.DataFrame:
        """The gains of these passes: of each arm and metric one."""
        return self.table[(self.table["cache"] == cache) & (self.table["condition"] == condition)]


def two_runs(a: Opened, b: Opened) -> TwoRuns:
    """Run B against run A, whatever they are of."""
    found = compare_sides(_side(a), _side(b))
    return TwoRuns(
        ran_on=tuple(_facts(found.fingerprint)),
        asked=tuple(_facts(found.asked)),
        requests=tuple(_pairings(found)),
        table=found.table,
    )


def arms_of(rows: pd.DataFrame) -> list[str]:
    """The arms that both runs measured, in the lab's order."""
    return arm_order(rows["arm"])


def _side(run: Opened) -> Side:
    return side_of(run.run, run.steps, run.chunks, run.events)


def _pairings(found: RunComparison) -> Iterator[Pairing]:
    for row in found.requests:
        yield Pairing(recording=row.recording or "live agents", paired=row.same, why=row.why)


def _facts(found: Sequence[Difference]) -> Iterator[Fact]:
    for one in found:
        top = one.key.partition(".")[0]
        if top == "recordings" and (one.a is None or one.b is None):
            continue  # that only one run has it stands with the requests
        whole = top == "engines" and one.key.count(".") == 1
        if whole and one.a is not None and one.b is not None:
            continue  # addresses of engines that nobody started here
        a, b = (_HAS[side is not None] if whole else _value(top, side) for side in (one.a, one.b))
        yield Fact(what=_name(one.key), a=a, b=b, heavy=top not in _LIGHT and not whole)


_HAS = {True: "has this engine", False: "has none like it"}
"""A whole engine belongs to an arm that the other run did not measure: its command line is no difference to read."""


def _name(key: str) -> str:
    """`packages.torch` as `package torch`, `engines.1 engine.engine.--block-size` as `engine 1 --block-size`."""
    top, _, rest = key.partition(".")
    if top == "engines":
        engine, role, option = [*rest.split(".", 2), "", ""][:3]
        of = f" of {role}" if option and "+" in engine else ""
        return " ".join(filter(None, ("engine", engine.split(" ")[0], (option or role).replace("_", " ")))) + of
    if key in _NAMES:
        return _NAMES[key]
    return " ".join(filter(None, (_NAMES.get(top, top), rest.replace(".", " ")))).replace("_", " ")


def _value(top: str, value: Any) -> str:
    if top == "memory_bytes" and isinstance(value, int | float):
        return f"{value / 2**30:.1f} GiB"
    return _HASH.sub(lambda found: found[0][:_SHORT], shown(value))
