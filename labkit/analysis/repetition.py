"""How much of a reply stands before it already: a crude bound on what n-gram drafts can guess, from the texts alone.

A text is cut into words and signs, which is coarser than a tokenizer. A piece can be drafted when it has followed the
same `match` pieces before, in the prompt or earlier in the reply. Of several continuations that were seen, a drafter
must pick one, and here it always picks the right one: so this is what it could get at most, but for words that a
tokenizer cuts into several tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.core.errors import BadInput

_PIECE = re.compile(r" ?\w+|\s+|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """`pieces`: of the reply; `seen`: those that could have been drafted.

    `passes`: forward passes that the reply needs when every draft is right: a pass checks up to `drafts` pieces that
    could be drafted, and yields one more.
    """

    pieces: int
    seen: int
    passes: int


def pieces(text: str) -> list[str]:
    """Words with the space before them, runs of white space, and single signs; together they are the text."""
    return _PIECE.findall(text)


def repetition(prompt: str, reply: str, *, match: int = 2, drafts: int = 4) -> Repetition:
    """Of one reply. `match`: vLLM's `prompt_lookup_min`; `drafts`: its `num_speculative_tokens`. Raises BadInput."""
    for field, value in (("match", match), ("drafts", drafts)):
        if value < 1:
            raise BadInput(field, value, "a whole number from 1")
    before, said = pieces(prompt), pieces(reply)
    seen = _seen(before, said, match)
    return Repetition(pieces=len(said), seen=sum(seen), passes=_passes(seen, drafts))


def _seen(before: Sequence[str], said: Sequence[str], match: int) -> list[bool]:
    """For each piece of `said`: whether it follows the pieces before it as it did at some earlier place."""
    whole, found = [*before, *said], []
    known = {tuple(whole[at : at + match + 1]) for at in range(len(before) - match)}
    for at in range(len(before), len(whole)):
        here = tuple(whole[max(0, at - match) : at + 1])
        found.append(len(here) == match + 1 and here in known)
        known.add(here)
    return found


def _passes(seen: Sequence[bool], drafts: int) -> int:
    """Each pass takes what it can of the pieces ahead that were seen, and one more, whatever that is."""
    at, passes = 0, 0
    while at < len(seen):
        ahead = seen[at : at + drafts]
        at += (ahead.index(False) if False in ahead else len(ahead)) + 1
        passes += 1
    return passes
