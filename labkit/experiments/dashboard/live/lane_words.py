"""The words of swim lanes: who a lane is, what a step was, and what the figure shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.format import missing, percent, seconds
from labkit.analysis.spans import step_end
from labkit.experiments.dashboard.live.lane_clock import Clock
from labkit.plots.frame import Caption
from labkit.plots.lane_records import Lane, StepBox

TITLES: dict[Clock, str] = {
    "run": "Who waits for what, second by second?",
    "arm": "How long does each arm take for its steps, and for what?",
}
MARKS = "The line above a step is its arm; the strip below splits its prompt: from the cache (violet), computed (pale)."
_NONE = "No step has been sent yet. Each agent gets a lane here as soon as its first step leaves."


def lane_label(arm: str, agent: str) -> Lane:
    """`agent 0`, or `prefix, agent 0` where a lane is of one arm; `prefix, all agents` where it is of all of them."""
    who = f"agent {agent}" if agent else "all agents"
    return Lane(label=f"{arm}, {who}" if arm else who, arm=arm)


def step_box(row: Any, run_id: str) -> StepBox:
    """`row`: a step, with `lane` and `off`, the seconds to take off its times."""
    end = next(t for t in (row.t_end, row.t_last, row.t_first_token, row.t_send) if not missing(t))
    failed = not missing(row.error)
    key = (
        run_id, row.arm, row.task, row.recording, row.agent, str(row.repeat), str(row.turn), row.condition, row.cache,
    )  # fmt: skip
    toggled = f", {row.condition}" if row.condition else ""
    words = (f"turn {row.turn}, {row.kind}, {row.arm}{toggled}", _tokens(row), _failed(row) if failed else _times(row))
    known = not missing(row.cached_tokens) and not missing(row.prompt_tokens) and row.prompt_tokens > 0
    return StepBox(
        lane=int(row.lane),
        start=float(row.t_send - row.off),
        end=float(end - row.off),
        key=key,
        words=words,
        cached=float(row.cached_tokens) / float(row.prompt_tokens) if known and not failed else None,
        failed=failed,
    )


def caption(clock: Clock, steps: pd.DataFrame, lanes: Sequence[Lane]) -> Caption:
    """Title, what the marks mean with n, and the finding in words for who cannot see it."""
    if not lanes:
        return Caption(title=TITLES[clock], empty=_NONE)
    agents = steps["agent"].nunique() or len(lanes)
    note = f"{_n(agents, 'agent')}, {_n(len(steps), 'step')}. {MARKS}"
    return Caption(title=TITLES[clock], note=note, alt=f"{TITLES[clock]} {_alt(steps)}".strip())


def no_length(clock: Clock, n: int) -> Caption:
    """Of steps that all failed at once, and that lasted no time therefore."""
    return Caption(title=TITLES[clock], empty=f"{_n(n, 'step')} failed at once: there is no length of time to draw.")


def binned_caption(of: Caption, width: float) -> Caption:
    """The same where single steps are too many to draw."""
    return replace(of, note=f"{of.note.removesuffix(MARKS)}{cells_note(width)}")


def cells_note(width: float) -> str:
    """What a cell shows. `width`: seconds."""
    return f"Too many steps to draw each: a cell of {seconds(width)} shows what took most of it."


def _alt(steps: pd.DataFrame) -> str:
    return " ".join(_of_arm(arm, steps[steps["arm"] == arm]) for arm in in_order(steps["arm"]))


def _of_arm(arm: str, steps: pd.DataFrame) -> str:
    """`prefix: 8 steps in 17.0 s, 12 % of it before the first token.`"""
    whole = float((step_end(steps) - steps["t_send"]).sum())
    first = float((steps["t_first_token"] - steps["t_send"]).sum())
    share = f", {percent(first / whole)} of it before the first token" if whole else ""
    return f"{arm}: {_n(len(steps), 'step')} in {seconds(whole)}{share}."


def _tokens(row: Any) -> str:
    if missing(row.prompt_tokens):
        return "no tokens reported"
    cached = "" if missing(row.cached_tokens) else f", {row.cached_tokens:,} from the cache"
    made = "" if missing(row.completion_tokens) else f"; {row.completion_tokens:,} generated"
    return f"{row.prompt_tokens:,} prompt tokens{cached}{made}"


def _times(row: Any) -> str:
    """First token and whole; and what the engine told of it."""
    told = {"queue": row.queue_s, "prefill": row.prefill_s, "KV transfer": row.transfer_s, "decode": row.decode_s}
    parts = ", ".join(f"{name} {seconds(value)}" for name, value in told.items() if not missing(value))
    first = "" if missing(row.t_first_token) else f"{seconds(row.t_first_token - row.t_send)} to the first token, "
    whole = "no end" if missing(row.t_end) else f"{seconds(row.t_end - row.t_send)} in all"
    return first + whole + (f" ({parts})" if parts else "")


def _failed(row: Any) -> str:
    return f"failed: {str(row.error)[:120]}"


def _n(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
