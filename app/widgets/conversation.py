"""Messages of an agent as a chat. What a model or a tool wrote is shown as plain text, never as markdown or HTML."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from labkit.analysis.token_account import Segment
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.trajectory.messages import (
    is_long,
    line_words,
    message_name,
    reply_words,
    same_words,
    segment_words,
    shortened,
    tool_words,
)
from labkit.experiments.dashboard.trajectory.records import Line, Trajectory, Turn
from labkit.plots.theme import Mode, Part
from labkit.plots.token_bar import token_bar_svg

AVATARS = {
    "tools": ":material/construction:",
    "system": ":material/tune:",
    "user": ":material/person:",
    "tool": ":material/terminal:",
    "assistant": ":material/smart_toy:",
}
FOLDED = ("tools", "system")


def step(shown: Trajectory, turn: Turn) -> None:
    """What was new in the step's request, and what the engine said to it."""
    if turn.error:
        st.error(f"This step failed: {literal(turn.error)}", icon=":material/error:")
    before(shown.earlier(turn))
    segments = {segment.message: segment for segment in shown.segments(turn)}
    for place in shown.new(turn):
        message(shown.lines[place], segments.get(place), f"{turn.turn}-{place}")
    reply(shown, turn)


def before(earlier: Segment | None) -> None:
    """The part of the prompt that earlier steps have shown: only its tokens."""
    if earlier is None:
        return
    with st.chat_message("before", avatar=":material/history:"):
        prompt_bar(earlier)
        st.caption(f"all that was said before: {segment_words(earlier)}")


def message(line: Line, segment: Segment | None, key: str) -> None:
    """One message of the request, with its tokens above it."""
    with st.chat_message(line.role, avatar=AVATARS.get(line.role)):
        if segment is not None:
            prompt_bar(segment)
        st.caption(f"{message_name(line)}: {line_words(line, segment)}")
        body(line, key)


def reply(shown: Trajectory, turn: Turn) -> None:
    """What the engine said, and where the conversation went on from something else."""
    with st.chat_message("assistant", avatar=AVATARS["assistant"]):
        bar(turn.reply.made.runs, reply_words(turn))
        st.caption(f"reply: {reply_words(turn)}")
        if turn.reply.line is not None:
            body(turn.reply.line, f"{turn.turn}-reply")
        if turn.tool_name:
            st.caption(tool_words(turn, bool(shown.which.recording)))
        if words := same_words(shown, turn):
            st.caption(words)
        if turn.reply.recorded is not None:
            body(turn.reply.recorded, f"{turn.turn}-recorded")


def body(line: Line, key: str) -> None:
    """A message's texts: prose as plain text, what tools take and give as code."""
    if line.reasoning:
        text(line.reasoning, f"{key}-reasoning", code=False)
    if line.text:
        text(line.text, key, code=line.role in ("tool", *FOLDED), folded=line.role in FOLDED)
    for call in line.calls:
        st.caption(f"calls {literal(call.name)} with")
        st.code(call.arguments, language="json", wrap_lines=True)


def text(words: str, key: str, *, code: bool, folded: bool = False) -> None:
    """A text, of a long one the first lines until all is asked for; of a folded one nothing."""
    show = not (folded or is_long(words)) or st.toggle(f"Show all {len(words):,} characters", key=f"all-{key}")
    if folded and not show:
        return
    said = words if show else shortened(words)
    if code:
        st.code(said, language=None, wrap_lines=True)
    else:
        st.text(said, wrap=True)


def prompt_bar(segment: Segment) -> None:
    """Tokens of a prompt, or of a part of one, by where their KV came from."""
    runs = [("cached", segment.cached), ("computed", segment.computed), ("unknown", segment.unknown)]
    bar(runs, segment_words(segment))


def bar(runs: Sequence[tuple[Part, int]], words: str) -> None:
    """Tokens of a message as a bar of its parts; nothing where they were not counted."""
    mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
    if svg := token_bar_svg(runs, mode):
        st.image(svg, width="stretch", alt=words)
