"""A message and a reply in words: what they are, what is known of their tokens, how much of them is shown first."""

from __future__ import annotations

from labkit.analysis.token_account import Segment
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.trajectory.records import Line, Reply, Trajectory, Turn
from labkit.experiments.dashboard.trajectory.words import DASH, seconds
from labkit.plots.rows import counted

_NAMES = {"tools": "list of tools", "system": "system prompt", "user": "user message", "tool": "tool result"}
ESTIMATES = (
    "Sums are exact, as the engine counted them: two prompts differ by the reply between them and by what was added. "
    "Where several messages were added at once, their shares go by their characters and are called *about*; cached "
    "tokens are always the beginning of a prompt."
)
_FIRST_LINES, _FIRST_CHARS = 8, 600


def message_name(line: Line) -> str:
    """`tool result, new in turn 3`."""
    if line.reply:
        return f"reply of turn {line.turn}"
    return f"{_NAMES.get(line.role) or literal(line.role) + ' message'}, new in turn {line.turn}"


def line_words(line: Line, segment: Segment | None) -> str:
    """What is known of a message's size in a step's prompt."""
    size = f"{len(line.text):,} characters"
    return f"{size}; tokens not counted" if segment is None else f"{segment_words(segment)}; {size}"


def segment_words(segment: Segment) -> str:
    """`about 712 tokens: 640 cached, 72 computed`."""
    about = "about " if segment.estimated else ""
    if segment.unknown:
        return f"{about}{segment.tokens:,} tokens, cached or computed not measured"
    return f"{about}{segment.tokens:,} tokens: {segment.cached:,} cached, {segment.computed:,} computed"


def reply_words(turn: Turn) -> str:
    """`31 tokens, 18 accepted from drafts in 9 rounds; TTFT 0.34 s, decode 0.80 s`."""
    times = [f"TTFT {seconds(turn.ttft_s)}", f"decode {seconds(turn.decode_s)}"]
    ended = f"ended by: {literal(turn.reply.finish_reason)}" if turn.reply.finish_reason else ""
    return "; ".join(part for part in (_made(turn.reply), ", ".join(times), ended) if part)


def _made(reply: Reply) -> str:
    if reply.tokens is None:
        return "tokens not counted"
    words = f"{counted(reply.tokens, 'token')}"
    if reply.accepted is None:
        return words
    rounds = f" in {counted(reply.rounds, 'round')}" if reply.rounds is not None else ""
    cut = f", {reply.made.cut} more behind its end thrown away" if reply.made.cut else ""
    order = "" if reply.made.ordered else " (where in the text is not known)"
    return f"{words}, {reply.made.of('accepted'):,} accepted from drafts{rounds}{cut}{order}"


def tool_words(turn: Turn, replayed: bool) -> str:
    """What the tool took that the step asked for."""
    took = f"took {seconds(turn.tool_s)}" + (" when it was recorded" if replayed else "")
    size = f"{turn.tool_bytes:,} bytes" if turn.tool_bytes is not None else f"{DASH} bytes"
    return f"{literal(turn.tool_name or DASH)} {took} and returned {size}; the result is new in turn {turn.turn + 1}."


def same_words(shown: Trajectory, turn: Turn) -> str:
    """How the engine's reply stands to the recorded one, and which of them the next request holds."""
    reply = turn.reply
    if turn.error or reply.text_sha256 is None:
        return ""
    if reply.same is None:
        return ""
    if reply.same:
        return "The same as recorded."
    here = "It differs from the recorded reply. " if reply.line else "The engine said something else; it was not kept. "
    if shown.mode == "pinned":
        here = "Pinned to the recorded length: good for time, its text for nothing. "
    goes = "the recorded one, from which the next turn goes on" if reply.goes_on == "recorded" else "the recorded one"
    return f"{here}Below: {goes}."


def is_long(text: str) -> bool:
    """Whether a page shows only the first lines at first."""
    return text.count("\n") >= _FIRST_LINES + 4 or len(text) > 2 * _FIRST_CHARS


def shortened(text: str) -> str:
    """The first lines of a long text."""
    first = "\n".join(text.split("\n")[:_FIRST_LINES])[:_FIRST_CHARS]
    return f"{first}\n…"
