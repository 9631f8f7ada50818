"""The same step under another arm, beside the one that is looked at: times, cache, and whether the text is the same."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.trajectory.records import Line, Trajectory, Turn
from labkit.experiments.dashboard.trajectory.words import prompt_words, seconds

_CONTEXT = 40
"""Characters that are the same and stand before the place where two texts part."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """`words`: the other arm's step in a sentence. `here`, `there`: both texts from a little before they part; None
    where one was not kept, or where they are the same. `parts_at`: characters that both begin with."""

    arm: str
    words: str
    same_text: bool | None
    here: str | None = None
    there: str | None = None
    parts_at: int = 0


def beside_of(shown: Trajectory, other: Trajectory, number: int) -> Beside | None:
    """The step of this turn in both; None where one of them has none."""
    mine, its = shown.turn(number), other.turn(number)
    if mine is None or its is None:
        return None
    same = _same(mine, its)
    texts = (said(mine.reply.line), said(its.reply.line)) if same is False else (None, None)
    at = _parts_at(texts[0] or "", texts[1] or "")
    start = max(0, at - _CONTEXT)
    return Beside(
        arm=other.which.arm,
        words=_words(shown, mine, its, same),
        same_text=same,
        here=texts[0] and _from(texts[0], start),
        there=texts[1] and _from(texts[1], start),
        parts_at=at,
    )


def _parts_at(a: str, b: str) -> int:
    """How many characters both begin with."""
    return next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))


def said(line: Line | None) -> str | None:
    """All that a reply says, as one text: reasoning, content, calls."""
    if line is None:
        return None
    calls = [f"{call.name} {call.arguments}" for call in line.calls]
    return "\n".join(part for part in (line.reasoning, line.text, *calls) if part)


def _same(mine: Turn, its: Turn) -> bool | None:
    hashes = mine.reply.text_sha256, its.reply.text_sha256
    return None if None in hashes else hashes[0] == hashes[1]


def _words(shown: Trajectory, mine: Turn, its: Turn, same: bool | None) -> str:
    if its.error:
        return f"{_what(shown)} under {its.arm} failed: {literal(its.error)}"
    times = f"TTFT {seconds(its.ttft_s)} (here {seconds(mine.ttft_s)}), in all {_whole(its)} (here {_whole(mine)})"
    text = {None: "texts cannot be compared", True: "the text is identical", False: "the text differs"}[same]
    return f"{_what(shown)} under {its.arm}: {times}; {prompt_words(its)}; {text}."


def _what(shown: Trajectory) -> str:
    """Only with the recorded history do both arms get the same request."""
    return "The same request" if shown.which.recording and shown.history == "recorded" else "The same turn"


def _whole(turn: Turn) -> str:
    return seconds(turn.e2e_s)


def _from(text: str, start: int) -> str:
    return ("…" if start else "") + text[start:]
