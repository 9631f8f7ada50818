"""What drafts gave and what they took, in seconds of decoding, on the same requests with the same number of tokens.

A pass without a drafter makes one token, so a reply's decoding without one says what a pass takes. Each accepted token
saves a pass: that is given. The drafter's decoding took longer than what was left: that is taken, for drafting and for
checking more than one token a pass. Laid on the rounds that had a draft,

    passes that a round lasts = 1 + taken / (rounds x a pass)

which the formula of `draft_promise` has as 1 + c k. A round pays where it yields more tokens than it lasts passes.

The first token comes from prefill and is no pass of decoding. Tokens that were accepted behind a reply's end count as
accepted, as vLLM counts, so what is given is a little high for short replies, and what is taken is so too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from labkit.analysis.drafter_gain import PAIR_KEY, reference
from labkit.analysis.drafters import by_method, groups
from labkit.analysis.latency import e2e
from labkit.analysis.ratios import MIN_STEPS
from labkit.analysis.tables import Floats, floats, is_finished, measured, numbers, share, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

_WITHOUT = "_without"
_TIMES = ("t_send", "t_first_token", "t_last", "t_end")


@dataclass(frozen=True, kw_only=True)
class RoundRow(Record):
    """One drafter on one group of pairs."""

    method: str = column("string", "", "drafter, as the profile names it")
    by: str = column("string", "", "what the group is of: `all`, `kind` or `turn`")
    group: str = column("string", "", "kind of step, or first and last turn; `all` for all")
    n_pairs: int = column("int64", "", "steps that wrote as many tokens with the drafter as without")
    n_tasks: int = column("int64", "", "tasks that these steps are of")
    rounds: int = column("int64", "", "verification rounds with a draft")
    length: float | None = column("float64", "tokens", "tokens per round: 1 + accepted / rounds", nullable=True)
    without_s: float = column("float64", "s", "decoding without the drafter: first to last token")
    with_s: float = column("float64", "s", "decoding with the drafter")
    given_s: float = column("float64", "s", "passes that accepted tokens saved, at what a pass takes without")
    taken_s: float = column("float64", "s", "decoding with the drafter, beyond the passes that were left")
    round_passes: float | None = column(
        "float64", "passes", "how long a round lasts, in passes without the drafter", nullable=True
    )
    decode_gain: float | None = column("float64", "", "without_s / with_s; over 1 is faster", nullable=True)
    first_gain: float | None = column(
        "float64", "", "time to first token without / with the drafter; under 1: it is later with it", nullable=True
    )
    decode_share: float | None = column("float64", "", "share of decoding in the whole time without", nullable=True)
    gain: float | None = column("float64", "", "whole time without / with the drafter", nullable=True)
    most: float | None = column("float64", "", "the gain in whole time, were decoding to take none", nullable=True)
    too_few: bool = column("bool", "", f"fewer than {MIN_STEPS} pairs: too few to tell")


def round_table(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per drafter and group that has a pair; columns as RoundRow declares them. Empty without a reference."""
    kept = measured(steps)
    kept = kept[is_finished(kept) & (kept["mode"] != "pinned")]
    rows = []
    for method, mine in by_method(kept):
        pairs = mine.merge(reference(kept, method), on=PAIR_KEY, suffixes=("", _WITHOUT))
        pairs = pairs[_comparable(pairs)]
        rows += [_row(method, by, group, some) for by, group, some in groups(pairs) if len(some)]
    return typed_frame(RoundRow, rows)


def _comparable(pairs: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Pairs of one length, of more than the token of prefill, that told their drafts and their times."""
    tokens = numbers(pairs, "completion_tokens")
    same = (tokens == numbers(pairs, f"completion_tokens{_WITHOUT}")) & (tokens > 1)
    told = numbers(pairs, "drafts") + numbers(pairs, "drafted_tokens") + numbers(pairs, "accepted_tokens") >= 0
    timed = (_decode(pairs, "") > 0) & (_decode(pairs, _WITHOUT) > 0)
    kept: npt.NDArray[np.bool_] = same & told & timed
    return kept


def _decode(pairs: pd.DataFrame, side: str) -> Floats:
    return numbers(pairs, f"t_last{side}") - numbers(pairs, f"t_first_token{side}")


def _first(pairs: pd.DataFrame, side: str) -> Floats:
    return numbers(pairs, f"t_first_token{side}") - numbers(pairs, f"t_send{side}")


def _whole(pairs: pd.DataFrame, side: str) -> Floats:
    return floats(e2e(pairs[[f"{name}{side}" for name in _TIMES]].set_axis(list(_TIMES), axis=1)))


def _row(method: str, by: str, group: str, pairs: pd.DataFrame) -> RoundRow:
    rounds, accepted = numbers(pairs, "drafts"), numbers(pairs, "accepted_tokens")
    without, with_it = _decode(pairs, _WITHOUT), _decode(pairs, "")
    a_pass = without / (numbers(pairs, "completion_tokens") - 1)
    given = accepted * a_pass
    taken = with_it - without + given
    more, extra = share(taken, rounds * a_pass), share(accepted, rounds)
    decoding = share(without, _whole(pairs, _WITHOUT))
    return RoundRow(
        method=method,
        by=by,
        group=group,
        n_pairs=len(pairs),
        n_tasks=int(pairs["task"].nunique()),
        rounds=round(rounds.sum()),
        length=None if extra is None else 1 + extra,
        without_s=float(without.sum()),
        with_s=float(with_it.sum()),
        given_s=float(given.sum()),
        taken_s=float(taken.sum()),
        round_passes=None if more is None else 1 + more,
        decode_gain=share(without, with_it),
        first_gain=share(_first(pairs, _WITHOUT), _first(pairs, "")),
        decode_share=decoding,
        gain=share(_whole(pairs, _WITHOUT), _whole(pairs, "")),
        most=None if decoding is None or decoding >= 1 else 1 / (1 - decoding),
        too_few=len(pairs) < MIN_STEPS,
    )
