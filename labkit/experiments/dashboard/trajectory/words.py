"""A trajectory in words: one line for the whole and one for each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from labkit.core.records import RunInfo
from labkit.experiments.agent_asked import NO_ARM
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.trajectory.records import Trajectory, Turn
from labkit.plots.rows import counted

DASH = "–"


def summary(shown: Trajectory) -> str:
    """Steps, tokens, hit rate, speculation, seconds, outcome; a dash for what was not measured."""
    failed = sum(turn.error is not None for turn in shown.turns)
    parts = [
        f"**{counted(len(shown.turns), 'step')}**" + (f", {failed} failed" if failed else ""),
        _served(shown.turns),
        _prompts(shown.turns),
        _replies(shown.turns),
        f"{seconds(shown.seconds)} from the first request to the last token" if shown.seconds is not None else "",
        _outcome(shown),
    ]
    return " · ".join(part for part in parts if part)


def _served(turns: Iterable[Turn]) -> str:
    """Who served how many of them, where a toggle was flipped on the way."""
    count = Counter(turn.arm for turn in turns)
    return f"served by {' and '.join(f'{arm} ({n})' for arm, n in count.items())}" if len(count) > 1 else ""


def _prompts(turns: Iterable[Turn]) -> str:
    known = [turn for turn in turns if turn.prompt_tokens is not None]
    if not known:
        return "tokens not counted: no engine served it"
    prompt = sum(turn.prompt_tokens or 0 for turn in known)
    if all(turn.cached_tokens is None for turn in known):
        return f"{prompt:,} prompt tokens, cached ones not measured"
    both = [turn for turn in known if turn.cached_tokens is not None]
    split = sum(turn.prompt_tokens or 0 for turn in both)
    hits = sum(turn.cached_tokens or 0 for turn in both) / split if split else 0.0
    return f"{prompt:,} prompt tokens, **{hits:.0%}** cached"


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
    by = "a script decided and no arm served it; " if shown.which.arm == NO_ARM else ""
    if shown.reached is not None:
        return f"{by}hidden check: **{'passed' if shown.reached else 'not passed'}**"
    if shown.recorded_reached is not None:
        return f"a replay: nothing is solved anew (the recorded agent {_reached(shown.recorded_reached)})"
    return ""


def _reached(reached: bool) -> str:
    return "reached its goal" if reached else "did not reach its goal"


def nothing(info: RunInfo) -> str:
    """Why a run has no trajectory, in the run's own words where it has ended."""
    if info.state == "running":
        return "No step has ended yet. Look again in a moment, or follow the run on the **Live** page."
    ended = f" It is {info.state}: {literal(info.note)}" if info.note else ""
    return f"This run has no step that counts: at most its warm-up was sent.{ended} Another run can be picked above."


def step_title(turn: Turn, *, arm: bool = False) -> str:
    """A step in one line. `arm`: say who served it, where it was not always the same."""
    parts = [f"Turn {turn.turn} · {turn.kind}", turn.arm if arm else "", literal(turn.tool_name or "")]
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


def seconds(value: float | None) -> str:
    """With the digits that tell something."""
    if value is None:
        return DASH
    if value < 0.1:
        return f"{value * 1000:.1f} ms"
    return f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"
