"""What the tokens of a reply are: generated one by one, or drafted and accepted, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MOST_CUT = 16
"""Drafts of one verification; where the events lack more than that, they are not one a verification."""

Drawn = Literal["generated", "accepted"]


@dataclass(frozen=True, kw_only=True)
class Made:
    """A reply's tokens in runs of one kind. `ordered`: along the text; else accepted ones first, which says nothing.

    `cut`: draft tokens that were accepted and lay behind the reply's end.
    """

    runs: tuple[tuple[Drawn, int], ...] = ()
    ordered: bool = False
    cut: int = 0

    def of(self, kind: Drawn) -> int:
        """Tokens of this kind."""
        return sum(count for each, count in self.runs if each == kind)


def drawn(completion: int | None, accepted: int | None, chunks: Sequence[int | None]) -> Made:
    """What a reply's tokens are made of. `accepted`: draft tokens that the engine accepted; None without drafts.

    `chunks`: tokens of each event. A verification gives the drafts that it accepted and then one token of the model's
    own, in one event; so the events tell the order, if they carry as many drafts as were accepted. The last one may be
    cut where the reply ends: then it has drafts alone, and what was accepted behind the end is `cut`.
    """
    if completion is None:
        return Made()
    if not accepted:
        return Made(runs=_joined([("generated", completion)]), ordered=True)
    sizes = [tokens for tokens in chunks if tokens]
    short = accepted - sum(size - 1 for size in sizes)
    if sizes and len(sizes) == len(chunks) and sum(sizes) == completion and 0 <= short <= MOST_CUT:
        runs = [run for size in sizes for run in (("accepted", size - 1), ("generated", 1))]
        ends = [("accepted", sizes[-1])] if short else runs[-2:]
        return Made(runs=_joined(runs[:-2] + ends), ordered=True, cut=max(0, short - 1))
    kept = min(accepted, completion)
    return Made(runs=_joined([("accepted", kept), ("generated", completion - kept)]), cut=accepted - kept)


def _joined(runs: Sequence[tuple[str, int]]) -> tuple[tuple[Drawn, int], ...]:
    """Neighbours of one kind as one run, empty ones left out."""
    found = list[tuple[Drawn, int]]()
    for kind, count in runs:
        if found and found[-1][0] == kind:
            found[-1] = (found[-1][0], found[-1][1] + count)
        elif count:
            found.append((kind, count))  # type: ignore[arg-type]
    return tuple(found)
