"""Recordings, their checks and their promises as tables for readers; a dash for what nobody knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from labkit.analysis.format import count, percent, plain, seconds, times
from labkit.doctor.records import Check
from labkit.experiments.lessons.promised import text_of
from labkit.experiments.report.english import records
from labkit.traffic.recording import RecordedStep, Recording

_SAID = 60


def steps_shown(recording: Recording) -> pd.DataFrame:
    """A row a step: what was said or called, and its tokens."""
    rows = [
        {
            "turn": step.turn,
            "kind": step.kind,
            "said or called": _short(step),
            "prompt tokens": count(step.usage.prompt_tokens),
            "from the cache": count(step.usage.cached_tokens),
            "reply tokens": count(step.usage.completion_tokens),
        }
        for step in recording.steps
    ]
    return pd.DataFrame(rows).set_index("turn")


def checks_shown(checks: Mapping[str, Sequence[Check]]) -> pd.DataFrame:
    """What the doctor says of the prompts of each recording, a row a check."""
    rows = [
        {"recording": name, "check": each.name, "status": each.status, "found": each.found.split(": ", 1)[-1]}
        for name, found in checks.items()
        for each in found
    ]
    return pd.DataFrame(rows).set_index(["recording", "check"])


def promises_shown(promised: pd.DataFrame) -> pd.DataFrame:
    """`promised` for readers, a column a recording."""
    rows = [
        {
            "recording": row["recording"],
            "LLM calls": count(row["steps"]),
            "last prompt, tokens": count(row["last_prompt"]),
            "all prompts, tokens": count(row["prompt_tokens"]),
            "all replies, tokens": count(row["output_tokens"]),
            "read for each character written": plain(row["read_per_written"]),
            "prompt that repeats, in tokens": percent(row["repeated"]),
            "prompt that repeats, in characters": percent(row["repeated_text"]),
            "reply that could be copied": percent(row["copied"]),
            "pieces a forward pass, at most": plain(row["per_pass"]),
        }
        for row in records(promised)
    ]
    return pd.DataFrame(rows).set_index("recording").T


def beside(predicted: pd.DataFrame, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """A row an arm: what is left to compute, predicted and measured time, and one over the other.

    `table`: of `arm_table`; None: nothing was measured yet.
    """
    wanted = ["arm", "e2e_s", "n_steps", "n_failed"]
    told = pd.DataFrame({name: pd.Series(dtype="object") for name in wanted}) if table is None else table[wanted]
    both = predicted.merge(told, on="arm", how="left")
    rows = [
        {
            "arm": row["arm"],
            "prompt tokens to compute": count(row["computed"]),
            "forward passes": count(row["passes"]),
            "predicted": seconds(row["predicted_s"]),
            "measured": seconds(row["e2e_s"]),
            "measured / predicted": times(row["e2e_s"] / row["predicted_s"]),
            "n": count(row["n_steps"] - row["n_failed"]),
        }
        for row in records(both)
    ]
    return pd.DataFrame(rows).set_index("arm")


def _short(step: RecordedStep) -> str:
    said = " ".join(text_of(step.reply).split())
    return said if len(said) <= _SAID else f"{said[: _SAID - 1]}…"
