"""Whether two runs sent the same requests: only then may they be paired.

Surest is the hash of the recording that a run keeps. Without one on both sides, two recordings of one name count as the
same when every prompt that both sent has the same length in tokens, and that is said. Live histories are never the
same: each engine's own words went into the next turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.tables import measured, numbers
from labkit.core.columns import column
from labkit.core.records import Record

Hashes = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class SameRow(Record):
    """One recording of either run."""

    recording: str = column("string", "", "recording that was replayed; empty: a live agent")
    same: bool = column("bool", "", "both runs sent the same requests of it")
    why: str = column("string", "", "how that is known, or what is not the same")


def same_requests(
    a: pd.DataFrame, b: pd.DataFrame, a_hashes: Hashes | None = None, b_hashes: Hashes | None = None
) -> list[SameRow]:
    """One row per recording of the two step tables, in order of name. `*_hashes`: recording to its hash, where kept."""
    a, b = measured(a), measured(b)
    names = sorted({str(name) for frame in (a, b) for name in frame["recording"].unique()})
    return [
        _row(name, _of(a, name), _of(b, name), (a_hashes or {}).get(name), (b_hashes or {}).get(name)) for name in names
    ]


def _of(steps: pd.DataFrame, recording: str) -> pd.DataFrame:
    return steps[steps["recording"] == recording]


def _row(name: str, a: pd.DataFrame, b: pd.DataFrame, a_hash: str | None, b_hash: str | None) -> SameRow:
    against = _against(name, a, b)
    if against:
        return SameRow(recording=name, same=False, why=against)
    if a_hash and b_hash:
        same = a_hash == b_hash
        return SameRow(recording=name, same=same, why="same hash" if same else "another content under the same name")
    return _by_length(name, a, b)


def _against(name: str, a: pd.DataFrame, b: pd.DataFrame) -> str:
    """What rules pairing out, whatever the recording holds; empty when nothing does."""
    if not len(a) or not len(b):
        return f"only in {'B' if len(b) else 'A'}"
    if not name:
        return "live agents: each went its own way"
    if (a["history"] != "recorded").any() or (b["history"] != "recorded").any():
        return "live history: each engine's own words went into the next turn"
    modes = [sorted(side["mode"].unique()) for side in (a, b)]
    return "" if modes[0] == modes[1] else f"{'/'.join(modes[0])} replay in A, {'/'.join(modes[1])} in B"


def _by_length(name: str, a: pd.DataFrame, b: pd.DataFrame) -> SameRow:
    sides = [_lengths(side) for side in (a, b)]
    common = sides[0].index.intersection(sides[1].index)
    if not len(common):
        return SameRow(recording=name, same=False, why="no hash was kept, and no prompt length is in both")
    if not (sides[0].loc[common] == sides[1].loc[common]).all():
        return SameRow(recording=name, same=False, why="no hash was kept, and prompts have other lengths in tokens")
    return SameRow(recording=name, same=True, why="same name and prompt lengths; no hash was kept")


def _lengths(steps: pd.DataFrame) -> pd.Series[float]:
    """Prompt tokens by turn; the longest, where arms do not agree."""
    return pd.Series(numbers(steps, "prompt_tokens"), index=steps["turn"]).dropna().groupby(level=0).max()
