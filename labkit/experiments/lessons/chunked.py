"""The same load with other chunks of prefill: what a smaller chunk does to the gaps, and what it costs the prompt."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from labkit.analysis.format import DASH, plain, seconds
from labkit.analysis.latency import percentile
from labkit.analysis.tables import floats
from labkit.experiments.lessons.interference import FEW, Company, gaps_of_long_prompts, in_company
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted
from labkit.store.runs import Run

_FLAG = "--max-num-batched-tokens"


class Chunks(NamedTuple):
    """A run under load, and the most tokens that one pass of its engine holds; None: its command line says nothing."""

    load: Company
    most_tokens: int | None


def in_chunks(run: Run) -> Chunks:
    """The run and the chunk that its engine was started with, by its fingerprint."""
    engines = (run.info.fingerprint.get("engines") or {}).values()
    argvs = [process["argv"] for engine in engines if isinstance(engine, dict) for process in engine["processes"]]
    said = {int(argv[argv.index(_FLAG) + 1]) for argv in argvs if _FLAG in argv}
    return Chunks(in_company(run), said.pop() if len(said) == 1 else None)


def chunks_shown(runs: list[Chunks], arm: str) -> pd.DataFrame:
    """A row per chunk size: gaps beside prompts longer than the smallest chunk, and what these waited themselves."""
    smallest = min((run.most_tokens or 0 for run in runs), default=0)
    return pd.DataFrame([_shown(run, arm, smallest) for run in runs]).set_index("tokens in a pass, at most")


def _shown(run: Chunks, arm: str, longer_than: int) -> dict[str, Any]:
    gaps = gaps_of_long_prompts(run.load, arm, longer_than)
    met = run.load.met
    waits = met[(met["arm"] == arm) & (met["tokens"] > longer_than)].drop_duplicates(["agents", "agent", "turn"])
    return {
        "tokens in a pass, at most": DASH if run.most_tokens is None else run.most_tokens,
        f"prompts of over {longer_than} new tokens (n)": len(gaps),
        "longest gap beside one, median": seconds(percentile(gaps, 50)),
        "the longest of all": seconds(float(gaps.max()) if gaps.size else None),
        "their own time to first token, median": seconds(percentile(floats(waits["wait_s"]), 50)),
    }


def small_chunks_divide_the_gap(whole: Chunks, small: Chunks, arm: str) -> Outcome:
    """Whether the gap beside a long prompt falls to the usual gap and one chunk over the rate of prefill."""
    rate, size = whole.load.rates.get(arm), small.most_tokens
    if rate is None or size is None:
        return unmeasured("the rate of prefill or the size of a chunk is not known")
    before, after = (gaps_of_long_prompts(run.load, arm, size) for run in (whole, small))
    if not before.size or not after.size:
        return unmeasured(f"no prompt of over {size} new tokens was computed beside one other stream in both runs")
    usual = float(small.load.met.loc[small.load.met["arm"] == arm, "usual_s"].iloc[0])
    promised, middle = usual + size / rate.per_s, float(np.median(after))
    saw = (
        f"beside prompts of over {size} new tokens the longest gap fell from {seconds(float(np.median(before)))} to "
        f"{seconds(middle)} (medians, n = {before.size} and {counted(after.size, 'prompt')}), where one chunk of "
        f"{size} should take {seconds(promised)}: {plain(middle / promised)} times that"
    )
    told = min(before.size, after.size) >= FEW
    return Outcome(bool(middle < np.median(before) and middle <= 1.5 * promised) if told else None, saw)
