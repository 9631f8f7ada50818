"""One verdict for one claim, from what the engine answered and what the runs say: agrees, differs, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from labkit.analysis.format import DASH, percent
from labkit.engines.accepts import Answer
from labkit.experiments.lessons.article_words import code_span, first_line, ignored_words, levels, rows_of

Verdict = Literal["agrees", "differs", "cannot be seen here"]
AGREES: Verdict = "agrees"
DIFFERS: Verdict = "differs"
UNSEEN: Verdict = "cannot be seen here"
VERDICTS: tuple[Verdict, ...] = (AGREES, DIFFERS, UNSEEN)
UNASKED = ("not installed", "no answer")


class DraftRoom(NamedTuple):
    """What a draft model took here. `more_gb`: memory of the machine, against no draft; `share`: of KV blocks, left."""

    more_gb: float
    share: float | None
    n: int

    @property
    def words(self) -> str:
        left = "" if self.share is None else f", {percent(self.share)} of the KV blocks left"
        return f"{self.more_gb:+.2f} GB with a draft model{left} (n {self.n} readings)"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """`because`: a clause. `here`: what this machine says, for a cell; a dash when it says nothing."""

    verdict: Verdict
    because: str
    here: str = DASH


def judged_answers(answers: Sequence[Answer], control: Answer | None = None) -> Judged:
    """Of a claim that is a line of code, from the answers to its forms: one that is refused or ignored is enough.

    `control`: the answer to a line that is surely wrong. Raises ValueError without an answer.
    """
    if not answers:
        raise ValueError("a line of code is judged by at least one answer")
    here = "; ".join(dict.fromkeys(answer.status for answer in answers))
    if lost := [answer for answer in answers if answer.status in UNASKED]:
        return Judged(verdict=UNSEEN, because=f"nobody could be asked: {lost[0].said}")
    if refused := [answer for answer in answers if answer.status == "refused"]:
        return Judged(verdict=DIFFERS, because=f"the engine refuses it: {_words(refused[0])}", here=here)
    if ignored := [answer for answer in answers if answer.status == "ignored"]:
        return Judged(verdict=DIFFERS, because=ignored_words(ignored[0]), here=here)
    if control is not None and control.status == "accepted":
        because = "the engine takes any name, a made-up one too, and looks for it only when it starts"
        return Judged(verdict=UNSEEN, because=because, here=here)
    return Judged(verdict=AGREES, because="the engine takes the line", here=here)


def _words(answer: Answer) -> str:
    return code_span(first_line(answer.said))


def judged_reuse(default: Answer, seen: pd.DataFrame) -> Judged:
    """Of the claim that nothing is reused unless one asks: the engine's default, and what caches served in the runs."""
    rates = rows_of(seen, "prefix_caching", "hit_rate", "%")
    here = levels(rates) if len(rates) else DASH
    if default.status != "accepted":
        return Judged(verdict=UNSEEN, because=f"nobody could be asked for the default: {default.said}", here=here)
    if not default.read.get("enable_prefix_caching"):
        return Judged(verdict=AGREES, because="the engine leaves prefix caching off unless it is asked for", here=here)
    served = f", and where it was on it served {here} of the prompt tokens" if len(rates) else ""
    return Judged(verdict=DIFFERS, because=f"the engine switches it on when nobody says{served}", here=here)


def judged_seqs(line: Judged, most: int | None, n: int) -> Judged:
    """Of one request at a time on the prefill side. `line`: whether the engine takes it. `n`: steps that finished with
    up to `most` at once.

    A setting is no statement, so an engine that takes it settles nothing; and a split over another connector is no
    evidence for MoRI-IO, so that it stands beside the claim and does not judge it.
    """
    if line.verdict != AGREES:
        return line
    meaning = "it would serialise prompts (by its meaning, not measured)"
    if most is None or most <= 1 or not n:
        return Judged(verdict=UNSEEN, because=f"the engine takes it, and {meaning}", here=line.here)
    because = (
        f"the engine takes it, and {meaning}; {n} steps went through a split here without it, which says nothing of "
        "MoRI-IO"
    )
    return Judged(verdict=UNSEEN, because=because, here=f"not needed here: --max-num-seqs {most}, n {n}")


def judged_memory(weights_gb: float | None, room: DraftRoom | None) -> Judged:
    """Of a draft's memory. What was seen is another draft's, so it stands beside the claim and does not judge it.

    `weights_gb`: what the weights of the draft that is claimed about come to; None: not known.
    """
    weights = "" if weights_gb is None else f"; its weights would be {weights_gb:.1f} GB in bf16"
    because = f"the draft that it names was not run here{weights}"
    return Judged(verdict=UNSEEN, because=because, here=DASH if room is None else room.words)


def verdicts(judged: Iterable[Judged]) -> dict[Verdict, int]:
    """How many claims have each verdict."""
    found = [each.verdict for each in judged]
    return {verdict: found.count(verdict) for verdict in VERDICTS}
