"""What became of a prediction: the two of `told`'s arguments that are computed from a run.

Markdown(told("the cache leaves the last prompt", *cache_leaves(run)))
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.experiments.lessons.told import Unmeasured


class Outcome(NamedTuple):
    """`holds`: None where there is too little to tell. `saw`: a clause without a full stop, with its numbers and n."""

    holds: bool | None
    saw: str


def unmeasured(what: str) -> Outcome:
    """Nothing to hold the prediction against, and why: `base was not measured`."""
    return Outcome(None, Unmeasured(what))
