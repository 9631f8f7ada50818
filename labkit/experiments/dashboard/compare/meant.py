"""What numbers mean, as a record: two plain sentences, and what else limits them."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.experiments.dashboard.compare.doubts import Doubt


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """`finding`, `caution`: a sentence each. `told`: whether anything could be told. `doubts`: what else limits it.

    `page`: the page of the dashboard that shows more, by its address; empty: this one.
    """

    finding: str
    caution: str
    told: bool = False
    doubts: tuple[Doubt, ...] = ()
    page: str = ""
