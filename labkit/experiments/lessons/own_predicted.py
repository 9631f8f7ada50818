"""How long each arm should take, before it was measured: what a recording promises, times the pace of an engine.

    seconds = prompt tokens that are computed x prefill pace + reply tokens x decode pace

Prefix caching takes the repeated tokens off the first part. Drafts that are all right would take the second part down
to the forward passes that are left; checking a draft is counted as free. So the second is a bound, the first is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.format import seconds
from labkit.analysis.tables import numbers, total, typed_frame
from labkit.core.arms import Arm, arm_named
from labkit.core.columns import column
from labkit.core.records import Record
from labkit.experiments.report.english import counted
from labkit.traffic.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Seconds a token of the engine that a recording was made on, over `n` steps of it."""

    prefill_s: float
    decode_s: float
    n: int


@dataclass(frozen=True, kw_only=True)
class PredictedArm(Record):
    """One arm, summed over the steps; None: not known, or not to be told from a recording (a split)."""

    arm: str = column("string", "", "label of the arm")
    computed: float | None = column("float64", "tokens", "prompt tokens that are left to compute", nullable=True)
    passes: float | None = column("float64", "", "forward passes that are left of decode", nullable=True)
    predicted_s: float | None = column("float64", "s", "both, times the pace", nullable=True)


def pace(recording: Recording) -> Pace | None:
    """From the times that the engine told when it was recorded; None where it told none, as in a log or a script.

    Token-weighted: seconds of prefill over the prompt tokens that were computed, seconds of decode over the reply's
    tokens after the first.
    """
    told = [step.usage for step in recording.steps if step.usage.prefill_s is not None]
    told = [each for each in told if each.decode_s is not None and each.prompt_tokens and each.completion_tokens]
    computed = sum((each.prompt_tokens or 0) - (each.cached_tokens or 0) for each in told)
    written = sum((each.completion_tokens or 0) - 1 for each in told)
    if not computed or not written:
        return None
    return Pace(
        prefill_s=sum(each.prefill_s or 0.0 for each in told) / computed,
        decode_s=sum(each.decode_s or 0.0 for each in told) / written,
        n=len(told),
    )


def predicted(turns: pd.DataFrame, at: Pace | None, arms: Iterable[str]) -> pd.DataFrame:
    """One row an arm; columns as PredictedArm declares them. `turns`: of `promised_by_turn`. Raises UnknownName."""
    return typed_frame(PredictedArm, [_arm(turns, at, arm_named(label)) for label in arms])


def _arm(turns: pd.DataFrame, at: Pace | None, arm: Arm) -> PredictedArm:
    if arm.pd_split:
        return PredictedArm(arm=arm.label)
    prompt, repeated = numbers(turns, "prompt_tokens"), numbers(turns, "repeated_tokens")
    written = numbers(turns, "output_tokens")
    if arm.speculation:
        written = written * numbers(turns, "passes") / np.maximum(numbers(turns, "pieces"), 1.0)
    computed, passes = total(prompt - repeated * arm.prefix_caching), total(written)
    known = at is not None and computed is not None and passes is not None
    predicted_s = computed * at.prefill_s + passes * at.decode_s if known else None  # type: ignore[operator, union-attr]
    return PredictedArm(arm=arm.label, computed=computed, passes=passes, predicted_s=predicted_s)


def pace_in_words(at: Pace | None) -> str:
    """The two numbers and their n, or that there are none."""
    if at is None:
        return "The recording tells no times, so no seconds can be predicted from it."
    return (
        f"{seconds(at.prefill_s)} a prompt token that is computed, {seconds(at.decode_s)} a reply token; n = "
        f"{counted(at.n, 'step')}"
    )
