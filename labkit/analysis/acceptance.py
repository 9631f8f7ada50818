"""How well speculation guesses.

- rate: accepted draft tokens / proposed draft tokens.
- length: 1 + accepted draft tokens / verification rounds. The 1 is the token that a round yields in any case, as vLLM
  counts; tools that leave it out report one less.

Both are ratios of sums (token-weighted), never means of per-request values. Not measured is None: an arm without
speculation has no acceptance, which is not an acceptance of 0. Steps of pinned length are left out: a model that is not
allowed to stop says what it never would, and a drafter guesses that better or worse than its real words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.tables import measured, numbers, share, total_tokens, typed_frame
from labkit.core.arms import ARMS
from labkit.core.columns import column
from labkit.core.records import KINDS, Record


@dataclass(frozen=True, kw_only=True)
class Acceptance(Record):
    """Acceptance over some steps; `n` of them reported drafted and accepted tokens."""

    n: int = column("int64", "", "steps that reported drafted and accepted tokens")
    drafts: int | None = column("int64", "", "verification rounds", nullable=True)
    drafted: int | None = column("int64", "tokens", "draft tokens proposed", nullable=True)
    accepted: int | None = column("int64", "tokens", "draft tokens accepted", nullable=True)
    rate: float | None = column("float64", "", "accepted / proposed, 0 to 1", nullable=True)
    length: float | None = column(
        "float64", "tokens", "tokens per verification round: 1 + accepted / drafts", nullable=True
    )


@dataclass(frozen=True, kw_only=True)
class KindAcceptance(Acceptance):
    """Acceptance of one arm's steps of one kind."""

    arm: str = column("string", "", "label of the arm")
    kind: str = column("string", "", "plan, act, observe, evaluate or answer")


def acceptance(steps: pd.DataFrame) -> Acceptance:
    """Acceptance over all rows of `steps` that ended as the model wanted."""
    steps = steps[steps["mode"] != "pinned"]
    drafts, drafted, accepted = (numbers(steps, name) for name in ("drafts", "drafted_tokens", "accepted_tokens"))
    extra = share(accepted, drafts)
    return Acceptance(
        n=int((~np.isnan(drafted + accepted)).sum()),
        drafts=total_tokens(drafts),
        drafted=total_tokens(drafted),
        accepted=total_tokens(accepted),
        rate=share(accepted, drafted),
        length=None if extra is None else 1 + extra,
    )


def acceptance_by_kind(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm, in the lab's order, and kind that speculated; columns as KindAcceptance declares them.

    Warm-up left out.
    """
    rows: list[KindAcceptance] = []
    for (arm, kind), group in measured(steps).groupby(["arm", "kind"], sort=True):
        of = acceptance(group)
        if of.n:
            rows.append(KindAcceptance.from_dict({"arm": arm, "kind": kind, **of.to_dict()}))
    arms: dict[str, int] = {arm.label: place for place, arm in enumerate(ARMS)}
    rows.sort(key=lambda row: (arms.get(row.arm, len(arms)), row.arm, _position(row.kind)))
    return typed_frame(KindAcceptance, rows)


def _position(kind: str) -> int:
    names: tuple[str, ...] = KINDS
    return names.index(kind) if kind in names else len(names)
