"""The article's claims beside the engine's answers, the runs and what others published: the tables of the notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from labkit.analysis.effect_rows import ArmGainRow
from labkit.analysis.format import DASH
from labkit.analysis.tables import is_finished, typed_frame
from labkit.core.arms import ARMS, LAYERS
from labkit.engines.accepts import Answers
from labkit.experiments.compared import compared
from labkit.experiments.lessons.article_judged import (
    DraftRoom,
    Judged,
    judged_answers,
    judged_memory,
    judged_reuse,
    judged_seqs,
)
from labkit.experiments.lessons.article_lines import DEFAULT, LINES, SEQS, Line, lines_of
from labkit.experiments.lessons.article_numbers import judged_number
from labkit.experiments.lessons.article_seen import draft_room, prefill_seqs, seen
from labkit.experiments.lessons.article_words import cell, claimed, in_words, one_line
from labkit.experiments.report.english import records
from labkit.experiments.report.material import Material
from labkit.plots.labels import term_label
from labkit.store.runs import Run

ARTICLE = "seed article"
"""The source of the claims that are the article's."""
_SIZE = re.compile(r"-(\d+(?:\.\d+)?)B\b")
_BF16_BYTES = 2
_SPLIT = [arm.label for arm in ARMS if arm.pd_split]


class Evidence(NamedTuple):
    """All that claims are judged by. `prefill_at_once`: None: no run had a split; `n_split`: its steps."""

    answers: Answers
    seen: pd.DataFrame
    prefill_at_once: int | None
    n_split: int
    draft: DraftRoom | None


def evidence(answers: Answers, runs: Sequence[Run]) -> Evidence:
    """From the engine's answers and the runs of one machine."""
    most = [at_once for run in runs if (at_once := prefill_seqs(run)) is not None]
    draft = next(filter(None, map(draft_room, runs)), None)
    return Evidence(answers, seen(runs), max(most) if most else None, sum(map(_n_split, runs)), draft)


def _n_split(run: Run) -> int:
    steps = compared(run.info, run.steps())
    return int((is_finished(steps) & steps["arm"].isin(_SPLIT)).sum())


def judged(claim: Mapping[str, Any], found: Evidence, claims: pd.DataFrame) -> Judged:
    """The verdict on one claim; a row of `claims`, which are all of them."""
    if lines := lines_of(str(claim["id"])):
        return _judged_lines(lines, found)
    if claim["source"] == ARTICLE and claim["metric"] == "hit_rate":
        return judged_reuse(found.answers.of(DEFAULT.id), found.seen)
    if claim["source"] == ARTICLE and claim["metric"] == "memory":
        return judged_memory(_draft_gb(claims), found.draft)
    return judged_number(claim, found.seen)


def judged_line(line: Line, found: Evidence) -> Judged:
    """The verdict on one line of a claim."""
    return _judged_lines([line], found)


def _judged_lines(lines: Sequence[Line], found: Evidence) -> Judged:
    controls = [found.answers.of(line.control.id) for line in lines if line.control]
    verdict = judged_answers([found.answers.of(line.written.id) for line in lines], controls[0] if controls else None)
    if lines[0].claim == SEQS:
        return judged_seqs(verdict, found.prefill_at_once, found.n_split)
    return verdict


def _draft_gb(claims: pd.DataFrame) -> float | None:
    """Weights of the draft that the article names, at two bytes a parameter; None: no claim names one."""
    named = claims[(claims["source"] == ARTICLE) & (claims["metric"] == "model")]["statement"]
    sizes = [weights_gb(text) for text in named]
    return next((size for size in sizes if size is not None), None)


def weights_gb(name: str) -> float | None:
    """GB of a model's weights in bf16, from the size in its name (`Qwen3-0.6B`: 1.2); None: no size in it."""
    size = _SIZE.search(name)
    return float(size[1]) * _BF16_BYTES if size else None


def article_table(claims: pd.DataFrame, found: Evidence) -> pd.DataFrame:
    """A claim of the article a row: what this machine says, what others published, the verdict and why."""
    return _table(claims[claims["source"] == ARTICLE], found, claims)


def others_table(claims: pd.DataFrame, found: Evidence, hardware: str) -> pd.DataFrame:
    """The same for what others published on this hardware (a part of its name), by layer; with who said it."""
    kept = on_hardware(claims[claims["source"] != ARTICLE], hardware)
    order = {name: place for place, name in enumerate((*LAYERS, "none"))}
    kept = kept.sort_values("layer", key=lambda names: names.map(order), kind="stable")
    table = _table(kept, found, claims)
    table.insert(2, "source", [f"{row['source']}, {row['date']}" for row in records(kept)])
    return table


def on_hardware(claims: pd.DataFrame, hardware: str) -> pd.DataFrame:
    """The claims on this hardware, by a part of its name."""
    return claims[claims["hardware"].str.contains(hardware, case=False, regex=False)]


def _table(kept: pd.DataFrame, found: Evidence, claims: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for claim in records(kept):
        verdict = judged(claim, found, claims)
        rows.append(
            {
                "layer": DASH if claim["layer"] == "none" else term_label(claim["layer"]),
                "claim": cell(claim["statement"]),
                "this machine": verdict.here,
                "others": _others(claim, claims),
                "verdict": verdict.verdict,
                "because": cell(verdict.because),
            }
        )
    return pd.DataFrame(rows, columns=["layer", "claim", "this machine", "others", "verdict", "because"])


def _others(claim: Mapping[str, Any], claims: pd.DataFrame) -> str:
    """What others say on the same layer and metric; a dash where nobody does."""
    same = (claims["layer"] == claim["layer"]) & (claims["metric"] == claim["metric"])
    return claimed(claims[same & (claims["source"] != ARTICLE) & (claims["id"] != claim["id"])]) or DASH


def lines_table(answers: Answers, *claims: str) -> pd.DataFrame:
    """The article's lines and today's, each with the engine's answer; of these claims alone, or of all.

    Where nothing says the same today, the nearest stands there with its limit.
    """
    rows = [
        {
            "the article": one_line(line.written.text),
            "the engine": in_words(answers.of(line.written.id)),
            "today": _today(line),
            "the engine, too": in_words(answers.of(line.today.id)) if line.today else DASH,
        }
        for line in LINES
        if not claims or line.claim in claims
    ]
    return pd.DataFrame(rows)


def _today(line: Line) -> str:
    if line.today is None:
        return cell(line.limit) or "nothing to set"
    text = one_line(line.today.text)
    return f"no equivalent; nearest: {text} ({cell(line.limit)})" if line.limit else text


def arm_gains_of(run: Run) -> pd.DataFrame:
    """What each arm of a run gained over base; columns of ArmGainRow. Empty where arms cannot be paired."""
    head = Material(run).headline
    return typed_frame(ArmGainRow, []) if head is None else head.arm_gains
