"""The same load with other chunks of prefill: what a smaller chunk does to the gaps, and what it costs the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from labkit.analysis.format import DASH, plain, seconds
from labkit.analysis.latency import percentile
from labkit.analysis.tables import floats
from labkit.engines.profiles import variant
from labkit.experiments.lessons.interference import FEW, Company, in_company, long_prompts
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted
from labkit.store.runs import Run

_FLAG = "--max-num-batched-tokens"
_SIZES = (2048, 512, 256, 128)
_EXAMPLE = "cpu-smollm2+max-num-batched-tokens=256"
_WITHIN = 1.5
"""A gap in chunks may be so many times the one that is predicted."""


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


def two_sizes(run: Run, question: Mapping[str, Any], size: int | None, stored: tuple[str, str]) -> Pair:
    """The same load with whole prompts and in smaller chunks. `size`: measure the second now, with so many tokens in
    a pass, beside `run`, which was measured by this `question`. None: open both; an empty id: there is none.
    """
    whole, small = stored
    if size is not None:
        asked = {**question, "profile": variant(question["profile"], {_FLAG[2:]: size}), "arms": question["arms"][:1]}
        return Pair(in_chunks(run), in_chunks(measured("interference", asked, "live", "")))
    known = in_chunks(measured("interference", {}, "stored", whole))
    return Pair(known, in_chunks(measured("interference", {}, "stored", small)) if small else None)


class Pair(NamedTuple):
    """Two runs of one load; `small` None: nobody measured it."""

    whole: Chunks
    small: Chunks | None


def promised_gaps(load: Company, arm: str, sizes: Sequence[int] = _SIZES) -> pd.DataFrame:
    """By arithmetic: the longest gap that each size of chunk should leave beside the longest prompt of the run.

    The prompt itself waits longer: each pass more also makes a token of the stream beside it, in the usual time.
    """
    rate, met = load.rates.get(arm), load.met[load.met["arm"] == arm]
    if rate is None or not len(met):
        return pd.DataFrame()
    longest, usual = int(met["tokens"].max()), float(met["usual_s"].iloc[0])
    rows = [
        {
            "tokens in a pass, at most": size,
            f"passes of a prompt of {longest} new tokens": (passes := -(-longest // size)),
            "longest gap beside it": seconds(usual + min(size, longest) / rate.per_s),
            "the prompt's own first token later by": seconds((passes - 1) * usual),
        }
        for size in sizes
    ]
    return pd.DataFrame(rows).set_index("tokens in a pass, at most")


def chunks_shown(pair: Pair, arm: str) -> pd.DataFrame | None:
    """A row per chunk size: gaps beside prompts longer than the smallest chunk, and what these waited themselves.

    Over the numbers of agents that all of the runs had. None where none of them had such a prompt.
    """
    runs = [run for run in pair if run is not None]
    smallest, agents = min(run.most_tokens or 0 for run in runs), _shared(runs)
    met = [long_prompts(run.load, arm, smallest, agents) for run in runs]
    if not any(map(len, met)):
        return None
    rows = [_shown(run.most_tokens, of, smallest) for run, of in zip(runs, met, strict=True)]
    return pd.DataFrame(rows).set_index("tokens in a pass, at most")


def _shared(runs: Sequence[Chunks]) -> set[int]:
    return set.intersection(*({int(n) for n in run.load.spans["agents"]} for run in runs))


def _shown(size: int | None, met: pd.DataFrame, longer_than: int) -> dict[str, Any]:
    gaps = floats(met["gap_s"])
    return {
        "tokens in a pass, at most": DASH if size is None else size,
        f"prompts of over {longer_than} new tokens (n)": len(gaps),
        "longest gap beside one, median": seconds(percentile(gaps, 50)),
        "the longest of all": seconds(float(gaps.max()) if gaps.size else None),
        "their own time to first token, median": seconds(_own_wait(met)),
    }


def _own_wait(met: pd.DataFrame) -> float | None:
    """Median time to first token of the prompts themselves, each once, seconds."""
    return percentile(floats(met.drop_duplicates(["agents", "agent", "turn"])["wait_s"]), 50)


def small_chunks_divide_the_gap(pair: Pair, arm: str) -> Outcome:
    """Whether the gap beside a long prompt falls to the usual gap and one chunk over the rate of prefill."""
    whole, small = pair
    if small is None:
        return unmeasured(f"nothing was measured in smaller chunks (labkit run interference --profile {_EXAMPLE})")
    rate, size, agents = whole.load.rates.get(arm), small.most_tokens, _shared((whole, small))
    if rate is None or size is None:
        return unmeasured("the rate of prefill or the size of a chunk is not known")
    met = [long_prompts(run.load, arm, size, agents) for run in (whole, small)]
    if not all(len(rows) for rows in met):
        return unmeasured(f"no prompt of over {size} new tokens was computed beside one other stream in both runs")
    before, after = (float(rows["gap_s"].median()) for rows in met)
    promised = float(met[1]["usual_s"].iloc[0]) + size / rate.per_s
    saw = (
        f"beside prompts of over {size} new tokens the longest gap was {seconds(before)} in one pass and "
        f"{seconds(after)} in chunks (medians, n = {len(met[0])} and {counted(len(met[1]), 'prompt')}), where one "
        f"chunk of {size} should take {seconds(promised)}: {plain(after / promised)} times that; "
        f"those prompts' own TTFT was {seconds(_own_wait(met[0]))} and {seconds(_own_wait(met[1]))} (medians)"
    )
    told = min(map(len, met)) >= FEW
    return Outcome(after < before and after <= _WITHIN * promised if told else None, saw)
