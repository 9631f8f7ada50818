"""A trajectory in words: one line for the whole, one for each step, message and reply."""

from __future__ import annotations

from collections.abc import Iterable

from labkit.analysis.token_account import Segment
from labkit.experiments.dashboard.trajectory_records import Line, Reply, Trajectory, Turn
from labkit.plots.rows import counted

DASH = "–"
_NAMES = {"tools": "list of tools", "system": "system prompt", "user": "user message", "tool": "tool result"}


def message_name(line: Line) -> str:
    """`tool result, new in turn 3`."""
    if line.reply:
        return f"reply of turn {line.turn}"
    return f"{_NAMES.get(line.role, line.role + ' message')}, new in turn {line.turn}"


def summary(shown: Trajectory) -> str:
    """Steps, tokens, hit rate, speculation, seconds, outcome; a dash for what was not measured."""
    failed = sum(turn.error is not None for turn in shown.turns)
    parts = [
        f"**{counted(len(shown.turns), 'step')}**" + (f", {failed} failed" if failed else ""),
        _prompts(shown.turns),
        _replies(shown.turns),
        f"{seconds(shown.seconds)} from the first request to the last token" if shown.seconds is not None else "",
        _outcome(shown),
    ]
    return " · ".join(part for part in parts if part)


def _prompts(turns: Iterable[Turn]) -> str:
    known = [turn for turn in turns if turn.prompt_tokens is not None]
    if not known:
        return "tokens not counted: no engine served it"
    prompt = sum(turn.prompt_tokens or 0 for turn in known)
    both = [turn for turn in known if turn.cached_tokens is not None]
    split = sum(turn.prompt_tokens or 0 for turn in both)
    hits = f"{sum(turn.cached_tokens or 0 for turn in both) / split:.0%}" if split else DASH
    return f"{prompt:,} prompt tokens, **{hits}** cached"


def _replies(turns: Iterable[Turn]) -> str:
    said = [turn.reply for turn in turns if turn.reply.tokens is not None]
    if not said:
        return ""
    words = f"{sum(reply.tokens or 0 for reply in said):,} generated"
    if all(reply.accepted is None for reply in said):
        return words
    return f"{words}, {sum(reply.made.of('accepted') for reply in said):,} of them accepted from drafts"


def _outcome(shown: Trajectory) -> str:
    """The hidden check on live work; of a replay, what the recorded agent had reached."""
    if shown.reached is not None:
        return f"hidden check: **{'passed' if shown.reached else 'not passed'}**"
    if shown.recorded_reached is not None:
        return f"a replay: nothing is solved anew (the recorded agent {_reached(shown.recorded_reached)})"
    return ""


def _reached(reached: bool) -> str:
    return "reached its goal" if reached else "did not reach its goal"


def step_title(turn: Turn, *, arm: bool = False) -> str:
    """A step in one line. `arm`: say who served it, where it was not always the same."""
    parts = [f"Turn {turn.turn} · {turn.kind}", turn.arm if arm else "", turn.tool_name or ""]
    parts += [prompt_words(turn), f"TTFT {seconds(turn.ttft_s)}" if turn.ttft_s is not None else ""]
    parts += ["failed" if turn.error else "", "" if turn.counts else "warm-up, does not count"]
    return " · ".join(part for part in parts if part)


def prompt_words(turn: Turn) -> str:
    """`874 tokens: 832 cached, 42 computed`."""
    if turn.prompt_tokens is None:
        return "tokens not counted"
    if turn.cached_tokens is None:
        return f"{turn.prompt_tokens:,} tokens, cached {DASH}"
    computed = turn.prompt_tokens - turn.cached_tokens
    return f"{turn.prompt_tokens:,} tokens: {turn.cached_tokens:,} cached, {computed:,} computed"


def segment_words(line: Line, segment: Segment | None) -> str:
    """What is known of a message's tokens in a step's prompt."""
    size = f"{len(line.text):,} characters"
    if segment is None:
        return f"{size}; tokens not counted"
    about = "about " if segment.estimated else ""
    if segment.unknown:
        return f"{about}{segment.tokens:,} tokens, cached or computed not measured; {size}"
    return f"{about}{segment.tokens:,} tokens: {segment.cached:,} cached, {segment.computed:,} computed; {size}"


def reply_words(turn: Turn) -> str:
    """`31 tokens, 18 accepted from drafts in 9 rounds; TTFT 0.34 s, decode 0.80 s`."""
    times = [f"TTFT {seconds(turn.ttft_s)}", f"decode {seconds(turn.decode_s)}"]
    ended = f"ended by: {turn.reply.finish_reason}" if turn.reply.finish_reason else ""
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
    return f"`{turn.tool_name}` {took} and returned {size}; the result is new in turn {turn.turn + 1}."


def seconds(value: float | None) -> str:
    """With the digits that tell something."""
    if value is None:
        return DASH
    if value < 0.1:
        return f"{value * 1000:.1f} ms"
    return f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"
