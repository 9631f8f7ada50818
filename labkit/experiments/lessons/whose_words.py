"""Whose words go into the next turn decides whether what decode computed is found again.

A reply's KV blocks are in the cache like a prompt's. The next prompt finds them as far as it carries the same tokens:
the engine's own reply in live history; in recorded history only where the engine said what the recording says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.format import percent
from labkit.analysis.tables import numbers
from labkit.experiments.lessons.caching import ON
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted
from labkit.plots.rows import finished
from labkit.store.runs import Run

_PASS = ["arm", "task", "recording", "agent", "condition", "cache", "repeat"]
_FEW = 3


@dataclass(frozen=True, kw_only=True)
class Reused:
    """Over `n` turns that have one before them, in tokens. `replies`: generated in the turn before.

    `found`: cached of the next prompt beyond the whole prompt before it, which is what decode had computed.
    """

    n: int
    replies: int
    found: int

    @property
    def share(self) -> float | None:
        return self.found / self.replies if self.replies else None

    @property
    def words(self) -> str:
        return f"{self.found} of {self.replies} reply tokens ({percent(self.share)})"


def reused(steps: pd.DataFrame, arm: str = ON) -> Reused:
    """Of the finished steps of one arm."""
    kept = finished(steps)
    kept = kept[kept["arm"] == arm].sort_values([*_PASS, "turn"])
    before = kept.groupby(_PASS, sort=False)[["turn", "prompt_tokens", "completion_tokens"]].shift()
    follows = numbers(before, "turn") == numbers(kept, "turn") - 1
    beyond = numbers(kept, "cached_tokens") - numbers(before, "prompt_tokens")
    known = follows & ~np.isnan(beyond)
    replies = numbers(before, "completion_tokens")[known]
    return Reused(n=int(known.sum()), replies=int(np.nansum(replies)), found=int(np.maximum(beyond[known], 0).sum()))


def words_table(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row per history: name to the steps of its run."""
    found = {name: reused(steps) for name, steps in runs.items()}
    rows = [
        {
            "history": name,
            "turns": one.n,
            "reply tokens": one.replies,
            "found again": one.found,
            "share": percent(one.share),
        }
        for name, one in found.items()
    ]
    return pd.DataFrame(rows, columns=["history", "turns", "reply tokens", "found again", "share"]).set_index("history")


def own_words_help(recorded: pd.DataFrame, live: pd.DataFrame) -> Outcome:
    """Whether more of the replies was found again with the engine's own words in the history."""
    theirs, own = reused(recorded), reused(live)
    saw = (
        f"with the recording's words the next turn found {theirs.words} again "
        f"(n = {counted(theirs.n, 'turn')}), and with the engine's own {own.words} (n = {own.n})"
    )
    if min(theirs.n, own.n) < _FEW or theirs.share is None or own.share is None:
        return Outcome(None, saw)
    return Outcome(own.share > theirs.share, saw)


def there(runs: Mapping[str, Run | None]) -> dict[str, pd.DataFrame]:
    """The steps of those runs that were measured, by name."""
    return {name: run.steps() for name, run in runs.items() if run is not None}


def both_histories(recorded: Run | None, live: Run | None) -> Outcome:
    """`own_words_help` of two runs; None: not measured."""
    if recorded is None or live is None:
        return unmeasured("the two histories of one recording were not both measured")
    return own_words_help(recorded.steps(), live.steps())
