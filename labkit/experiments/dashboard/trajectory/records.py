"""One trajectory as small records: messages, steps, replies.

Messages are kept once, with the turn whose request first had them; a step says how many of them its prompt is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from labkit.analysis.reply_account import Made
from labkit.analysis.token_account import NOT_COUNTED, Segment, Share, segments
from labkit.experiments.dashboard.trajectory.which import Which

Role = Literal["tools", "system", "user", "assistant", "tool"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call. `arguments`: indented JSON, or the text as it is where that is no JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """A message of the conversation. `turn`: whose request had it first; for a reply: the step that said it.

    `text` may be untrusted. `reasoning`: what a reasoning model thought before it. `reply`: a step of this very
    trajectory (or of its recording) said it.
    """

    role: Role
    turn: int
    text: str
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    share: Share = NOT_COUNTED
    reply: bool = False


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the engine said in a step. `line` is None where it was not kept, or nothing came.

    `made`: what its tokens are made of. `same`: whether it is the
    recorded reply, by its hash; None where there is none to compare. `recorded`: that one, where it is another.
    `goes_on`: whose reply the next request holds.
    """

    line: Line | None
    tokens: int | None
    accepted: int | None
    drafted: int | None
    rounds: int | None
    made: Made
    finish_reason: str | None
    text_sha256: str | None
    same: bool | None = None
    recorded: Line | None = None
    goes_on: Literal["recorded", "live"] = "recorded"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One step. `arm`: who served it. `messages`: how many of the conversation's first messages its prompt is.

    Seconds: `ttft_s` to the first token, `decode_s` from there to the last, `e2e_s` to the end. `counts`: it was not
    warm-up.
    """

    turn: int
    kind: str
    arm: str
    counts: bool
    messages: int
    prompt_tokens: int | None
    cached_tokens: int | None
    ttft_s: float | None
    decode_s: float | None
    e2e_s: float | None
    reply: Reply
    tool_name: str | None = None
    tool_s: float | None = None
    tool_bytes: int | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A conversation and its steps. `reached`: the hidden check's verdict on the agent that worked live in this run;
    `recorded_reached`: on the one that was recorded. `note`: what of the texts is not there, and why."""

    which: Which
    lines: tuple[Line, ...]
    turns: tuple[Turn, ...]
    history: str
    mode: str
    switched_by: str
    seconds: float | None
    note: str = ""
    reached: bool | None = None
    recorded_reached: bool | None = None
    live: bool = False

    def turn(self, number: int) -> Turn | None:
        """The step with this number."""
        return next((turn for turn in self.turns if turn.turn == number), None)

    def segments(self, turn: Turn) -> list[Segment]:
        """What the step's prompt is made of, message by message; adds up to its tokens.

        Where no message is known, it is one segment.
        """
        known = [line.share for line in self.lines[: turn.messages]] or [NOT_COUNTED]
        return segments(known, turn.prompt_tokens, turn.cached_tokens)

    def new(self, turn: Turn) -> range:
        """Places of the messages that were new in the step's request, the reply before it left out."""
        return range(*_ends([line.turn == turn.turn and not line.reply for line in self.lines]))

    def earlier(self, turn: Turn) -> Segment | None:
        """All that the step's prompt has of earlier requests and replies, as one; None where there is nothing."""
        new = self.new(turn)
        old = [segment for segment in self.segments(turn) if segment.message not in new]
        if not old or not self.lines:
            return None
        return Segment(
            message=-1,
            cached=sum(segment.cached for segment in old),
            computed=sum(segment.computed for segment in old),
            unknown=sum(segment.unknown for segment in old),
        )


def _ends(chosen: Sequence[bool]) -> tuple[int, int]:
    """From the first to the last of those that are chosen; they stand side by side."""
    places = [place for place, is_it in enumerate(chosen) if is_it]
    return (places[0], places[-1] + 1) if places else (0, 0)
