"""What moved from prefill to decode in one arm, and what went wrong on the way.

Bytes and seconds of all transfers are the connector's own counters, read around each pass. Those of one step are its
transferred tokens times the bytes of KV that a token has, beside the seconds that the counter grew by: known where one
request was in flight at a time. A connector that counts nothing (MoRI-IO) leaves dashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.counter_events import counters
from labkit.analysis.tables import is_finished
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import counted
from labkit.experiments.view import RunView

_FIELDS = ("transfers", "transfer_bytes", "transfer_s", "transfer_failures", "prompt_transferred")
COMMON = 3
"""So many different errors are told."""


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Sums over the passes that count; None: the engine has no such counter.

    `expired`: prompts whose KV nobody fetched in time; `recomputed`: prompt tokens that decode computed itself.
    """

    transfers: int | None = None
    transfer_bytes: int | None = None
    transfer_s: float | None = None
    transfer_failures: int | None = None
    prompt_transferred: int | None = None
    expired: int | None = None
    recomputed: int | None = None

    @property
    def bytes_each(self) -> float | None:
        return self.transfer_bytes / self.transfers if self.transfers and self.transfer_bytes is not None else None

    @property
    def s_each(self) -> float | None:
        return self.transfer_s / self.transfers if self.transfers and self.transfer_s is not None else None

    @property
    def bytes_per_s(self) -> float | None:
        return self.transfer_bytes / self.transfer_s if self.transfer_s and self.transfer_bytes is not None else None


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One kind of failure. `n`: how many, None where nobody counts it; `of`: of how many; `words`: what it means."""

    what: str
    n: int | None
    of: int | None
    words: str


def moved(events: Iterable[Mapping[str, Any]], steps: pd.DataFrame, arm: str) -> Moved:
    """From the `counters` events of the passes that this arm's `steps` are of."""
    mine = steps[steps["arm"] == arm]
    keys = set(mine[["repeat", "condition", "cache"]].drop_duplicates().itertuples(index=False, name=None))
    grown = [
        {role: process["growth"] for role, process in event.get("processes", {}).items()}
        for event in counters(events)
        if event.get("arm") == arm and _key(event) in keys
    ]
    decode, prefill = ([each.get(role) or {} for each in grown] for role in ("decode", "prefill"))
    counting = [each.get("decode") or _only(each) for each in grown]
    return Moved(
        **{name: _sum(counting, name) for name in _FIELDS},
        expired=_sum(prefill, "transfers_expired"),
        recomputed=_sum(decode, "prompt_computed"),
    )


def troubles(found: Moved, mine: pd.DataFrame, view: RunView, arm: str) -> tuple[Trouble, ...]:
    """What failed, of what was tried; `mine`: the steps of this arm."""
    n_failed = int((~is_finished(mine)).sum())
    return (
        Trouble(
            what="transfers that failed",
            n=found.transfer_failures,
            of=found.transfers,
            words="handshakes and notifications among them, as the connector counts",
        ),
        Trouble(
            what="prompts whose KV expired",
            n=found.expired,
            of=None,
            words="decode did not fetch it before prefill's lease on the blocks ran out",
        ),
        Trouble(
            what="prompt tokens computed again by decode",
            n=found.recomputed,
            of=found.prompt_transferred,
            words="what a transfer should have brought, beside tokens that were transferred",
        ),
        Trouble(
            what="requests that broke off",
            n=n_failed,
            of=len(mine),
            words=_errors(mine) or "every request got a whole answer",
        ),
        *_lost(view, arm),
    )


def bytes_per_token(opened: Opened) -> int | None:
    """Bytes of KV that a token has, as the run's fingerprint says; None where it was not known."""
    known = opened.info.fingerprint.get("kv_bytes_per_token")
    return int(known) if known else None


def step_transfers(mine: pd.DataFrame, per_token: int | None) -> pd.DataFrame:
    """Columns turn, tokens, bytes and seconds of each step that moved something and told how long it took."""
    kept = mine[mine["transferred_tokens"].notna() & mine["transfer_s"].notna()]
    kept = kept[(kept["transferred_tokens"] > 0) & (kept["transfer_s"] > 0)]
    tokens = kept["transferred_tokens"].astype("float64")
    return pd.DataFrame(
        {
            "turn": kept["turn"],
            "tokens": tokens,
            "bytes": tokens * (per_token or float("nan")),
            "seconds": kept["transfer_s"].astype("float64"),
        }
    )


def _key(event: Mapping[str, Any]) -> tuple[Any, ...]:
    return event.get("repeat"), event.get("condition") or "", event.get("cache") or "cold"


def _only(each: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The one page of an engine that does not show its halves."""
    return next(iter(each.values())) if len(each) == 1 else {}


def _sum(grown: list[dict[str, Any]], name: str) -> Any:
    known = [each[name] for each in grown if each.get(name) is not None]
    return sum(known) if known else None


def _errors(mine: pd.DataFrame) -> str:
    told = Counter(str(error) for error in mine["error"].dropna())
    return "; ".join(f"{error} ({counted(n, 'time')})" for error, n in told.most_common(COMMON))


def _lost(view: RunView, arm: str) -> tuple[Trouble, ...]:
    said = [(view.refused, "engine that was refused"), (view.died, "engine that died")]
    return tuple(Trouble(what=what, n=1, of=None, words=of[arm]) for of, what in said if arm in of)
