"""Answers, claims and rows of runs with known verdicts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.tables import typed_frame
from labkit.engines.accepts import Answer, Answers
from labkit.experiments.lessons.article_lines import CONNECTIONS, DEFAULT, LINES, MISSPELT, ONE_LEVEL_UP
from labkit.experiments.lessons.article_seen import SeenRow

REFUSED = ("connection", "spec-keyword", "spec-flag", "spec-length", "yaml", "one-level-up")
IGNORED = ("fp8", "timeout", "retry", "transfers", "buffer", "misspelt")


def answers(**changed: Answer) -> Answers:
    """As an engine of today answers; `changed`: by question, with `_` for `-`."""
    names = [q.id for line in LINES for q in (line.written, line.today, line.control) if q is not None]
    names += [question.id for question in (DEFAULT, CONNECTIONS, MISSPELT, ONE_LEVEL_UP)]
    told = {name: _answer(name) for name in names}
    told |= {name.replace("_", "-"): answer for name, answer in changed.items()}
    return Answers(vllm="1.0", python=None, asked_on="2026-11-30", seconds=9.0, answers=tuple(told.values()))


def _answer(name: str) -> Answer:
    if name in REFUSED:
        return Answer(id=name, status="refused", said="TypeError: no such\n  name")
    if name in IGNORED:
        return Answer(id=name, status="ignored", compared=40)
    return Answer(id=name, status="accepted", read={"enable_prefix_caching": True} if name == DEFAULT.id else {})


def nobody() -> Answers:
    """Where no vLLM is installed."""
    told = answers()
    lost = tuple(Answer(id=each.id, status="not installed", said="vLLM is not installed here") for each in told.answers)
    return Answers(vllm=None, python=None, asked_on="2026-11-30", seconds=0.0, answers=lost)


def seen(*rows: dict[str, Any]) -> pd.DataFrame:
    """Rows of runs; what is not said is a TTFT gain of prefix caching that is better."""
    usual = {
        "layer": "prefix_caching", "metric": "ttft_s", "where": "prefix", "value": 3.0, "unit": "x", "low": 2.5,
        "high": 3.5, "n": 30, "agents": 1, "verdict": "better", "run": "r",
    }  # fmt: skip
    return typed_frame(SeenRow, [SeenRow(**{**usual, **row}) for row in rows])


def rate(value: float, where: str = "prefix", layer: str = "prefix_caching") -> dict[str, Any]:
    return {
        "layer": layer, "metric": "hit_rate", "where": where, "value": value, "unit": "%", "low": None, "high": None,
        "verdict": "",
    }  # fmt: skip


def claim(**changes: Any) -> dict[str, Any]:
    """A published TTFT gain of prefix caching."""
    usual = {
        "id": "c", "layer": "prefix_caching", "metric": "ttft_s", "statement": "It is faster.", "value": 2.0,
        "unit": "x", "low": None, "high": None, "baseline": "", "hardware": "", "source": "somebody", "date": "2026",
    }  # fmt: skip
    return {**usual, **changes}
