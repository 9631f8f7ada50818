"""The steps of a trajectory as rows of the token strip: few enough pieces for a browser, however long it is."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.analysis.reply_account import Drawn
from labkit.analysis.token_account import Segment
from labkit.experiments.dashboard.trajectory.messages import message_name
from labkit.experiments.dashboard.trajectory.records import Reply, Trajectory, Turn
from labkit.plots.token_strip import Piece, StripPart, StripRow, TokenStripInfo, token_strip_info

MOST_PIECES = 3000
"""In one figure; with more, the messages of earlier steps are drawn as one."""
MOST_ROWS = 60
MOST_STEPS = 25
"""Of the conversation, on a page at once."""
_MADE: tuple[Drawn, ...] = ("generated", "accepted")
_SPLIT: tuple[StripPart, ...] = ("cached", "computed", "unknown")


def strip(shown: Trajectory, marked: int) -> TokenStripInfo:
    """The strip of a trajectory; of a long one, the steps around the marked one, which its note then says."""
    turns, several = window(shown.turns, marked), len({turn.arm for turn in shown.turns}) > 1
    rows = [_row(shown, turn, marked, several, joined=False) for turn in turns]
    if sum(len(row.pieces) for row in rows) > MOST_PIECES:
        rows = [_row(shown, turn, marked, several, joined=True) for turn in turns]
    about = f"{shown.which.arm}, {shown.which.recording or shown.which.task}"
    if len(turns) < len(shown.turns):
        about += f", turns {turns[0].turn} to {turns[-1].turn} of {len(shown.turns)}"
    return token_strip_info(rows, about)


def window(turns: Sequence[Turn], marked: int) -> Sequence[Turn]:
    """At most so many steps, the marked one among them."""
    place = next((n for n, turn in enumerate(turns) if turn.turn == marked), 0)
    start = max(0, min(place - MOST_ROWS // 2, len(turns) - MOST_ROWS))
    return turns[start : start + MOST_ROWS]


def page_of(turns: Sequence[Turn], marked: int) -> Sequence[Turn]:
    """The page of a long conversation that has the marked step."""
    place = next((n for n, turn in enumerate(turns) if turn.turn == marked), 0)
    start = place // MOST_STEPS * MOST_STEPS
    return turns[start : start + MOST_STEPS]


def _row(shown: Trajectory, turn: Turn, marked: int, several: bool, *, joined: bool) -> StripRow:
    label = " ".join([turn.kind, turn.arm if several else "", "(failed)" if turn.error else ""])
    segments = shown.segments(turn)
    pieces = _joined(shown, turn, segments) if joined else _each(shown, segments)
    return StripRow(
        turn=turn.turn,
        label=" ".join(label.split()),
        marked=turn.turn == marked,
        pieces=(*pieces, *_of_reply(turn.reply)),
    )


def _each(shown: Trajectory, segments: Sequence[Segment]) -> list[Piece]:
    """Every message by itself."""
    return [piece for segment in segments for piece in _pieces(segment, _words(shown, segment))]


def _joined(shown: Trajectory, turn: Turn, segments: Sequence[Segment]) -> list[Piece]:
    """The messages of earlier steps as one, the new ones each by itself."""
    old, new = shown.earlier(turn), shown.new(turn)
    fresh = _each(shown, [segment for segment in segments if old is None or segment.message in new])
    return [*_pieces(old, "in all earlier messages"), *fresh] if old else fresh


def _pieces(segment: Segment, words: str) -> list[Piece]:
    return [Piece(part, tokens, words) for part in _SPLIT if (tokens := getattr(segment, part))]


def _words(shown: Trajectory, segment: Segment) -> str:
    if segment.message >= len(shown.lines):
        return "the whole prompt"
    about = " (estimated)" if segment.estimated else ""
    return f"of {segment.tokens:,} in the {message_name(shown.lines[segment.message])}{about}"


def _of_reply(reply: Reply) -> list[Piece]:
    """What was generated, then what was accepted: in which order they came is told beside the reply itself."""
    counts = {part: reply.made.of(part) for part in _MADE}
    return [Piece(part, count, f"of {reply.tokens:,} in the reply") for part, count in counts.items() if count]
