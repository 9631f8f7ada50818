"""Whether the arms of a run were sent the same requests: what everything that is paired rests on."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.tables import STEP_KEY, is_finished, measured, numbers
from labkit.core.arms import BASE, arm_named
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import counted, listed


def pairing(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm: requests sent, finished, that base was sent too, and of these those with equally long prompts.

    `steps`: those that count. A prompt's length is what the engine counted in tokens, where it answered in both.
    Without base the first arm stands in its place.
    """
    kept = measured(steps)
    prompts = kept.assign(prompt_tokens=numbers(kept, "prompt_tokens"))
    asked = prompts.groupby(["arm", *STEP_KEY])["prompt_tokens"].max()
    arms = in_order(kept["arm"])
    first = asked.loc[BASE.label if BASE.label in arms else arms[0]] if arms else asked
    return pd.DataFrame([_row(arm, kept[kept["arm"] == arm], asked.loc[arm], first) for arm in arms])


def _row(arm: str, steps: pd.DataFrame, own: pd.Series[float], first: pd.Series[float]) -> dict[str, Any]:
    shared = own.index.intersection(first.index)
    return {
        "arm": arm,
        "sent": len(steps),
        "finished": int(is_finished(steps).sum()),
        "also sent to base": len(shared),
        "prompt as long as there": int((own.loc[shared] == first.loc[shared]).sum()),
    }


def all_paired(table: pd.DataFrame) -> Outcome:
    """Whether every request of every arm is one of base's, with a prompt of the same length. `table`: of `pairing`."""
    sent, alike = int(table["sent"].sum()), int(table["prompt as long as there"].sum())
    saw = (
        f"{alike} of the {sent} requests of {counted(len(table), 'arm')} were sent to base, too, with a prompt of "
        "exactly as many tokens"
    )
    return Outcome(alike == sent, saw)


def split_in_words(steps: pd.DataFrame) -> str:
    """Which arms of these split prefill from decode."""
    split = [arm for arm in in_order(steps["arm"]) if arm_named(arm).pd_split]
    if not split:
        return "No arm of this run splits prefill from decode; ARMS can name some."
    return f"{counted(len(split), 'arm')} of this run split prefill from decode: {listed(split)}."
