"""What the runs of one machine say on the metrics that others claim something about, in one table.

A gain is over the same arm without the layer, above 1 is better. A level (a hit rate, tokens per round) is a number of
one arm. Nothing is joined over runs: each row says under which arm and condition it was seen, and in which run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from labkit.analysis.cache import CacheUse, cache_use
from labkit.analysis.concurrency import windows
from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import drafter_table
from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.format import missing
from labkit.analysis.interference import interference
from labkit.analysis.tables import typed_frame
from labkit.core.arms import ARMS, LAYERS, Arm
from labkit.core.columns import column
from labkit.core.conditions import agents_of
from labkit.core.records import Record
from labkit.experiments.compared import compared
from labkit.experiments.lessons.article_judged import DraftRoom
from labkit.experiments.lessons.draft_memory import NO_DRAFTER, room_table
from labkit.experiments.report.english import counted, records, verdict_head
from labkit.experiments.report.material import Material
from labkit.store.runs import Run

ALONE = {Arm(**{layer: True}).label: layer for layer in LAYERS}
"""The arm that has a layer alone."""
CACHED = {"prefix": "prefix_caching", "prefix+pd": "pd_split"}
"""Arms with a cache, by the layer on which claims of a hit rate are about them."""
_DRAFTER_WORDS = {"faster": "better", "costs more than it gives": "worse"}
_UNDER_LOAD = {
    "ttft_s": ("ttft_p50_s", "ttft_low_s", "ttft_high_s"),
    "itl_p99_s": ("itl_p99_s", "itl_low_s", "itl_high_s"),
}


@dataclass(frozen=True, kw_only=True)
class SeenRow(Record):
    """One number of one run. `verdict`: better, worse, same or too few to tell, of a gain; empty of a level."""

    layer: str = column("string", "", "prefix_caching, pd_split or speculation")
    metric: str = column("string", "", "as in the table of claims")
    where: str = column("string", "", "arm, and what was varied besides")
    value: float = column("float64", "see unit", "gain or level")
    unit: str = column("string", "", "`x`: a gain; %, tokens: a level")
    low: float | None = column("float64", "see unit", "95 % interval, low end", nullable=True)
    high: float | None = column("float64", "see unit", "95 % interval, high end", nullable=True)
    agents: int = column("int64", "", "agents at work at once", default=1)
    n: int = column("int64", "", "requests that it rests on")
    verdict: str = column("string", "", "what can be said of a gain; empty of a level")
    run: str = column("string", "", "id of the run")


def seen(runs: Sequence[Run]) -> pd.DataFrame:
    """Columns as SeenRow declares them; each run tells what its experiment has. A run without a step tells nothing."""
    return typed_frame(SeenRow, [row for run in runs for row in _of(Material(run))])


def _of(material: Material) -> Iterator[SeenRow]:
    found = (_gains, _rates, _lengths, _drafters, _under_load)
    for row in (row for each in found for row in each(material)):
        if not missing(row["value"]):
            yield SeenRow.from_dict({"low": None, "high": None, "verdict": "", **row, "run": material.info.id})


def _gains(material: Material) -> Iterator[dict[str, Any]]:
    """Layers alone over base, where arms sent the same requests; a sweep over steps is about hit rates, not gains."""
    head = None if material.conditions else material.headline
    if head is None:
        return
    for row in records(head.arm_gains):
        if row["arm"] in ALONE:
            kept = {name: row[name] for name in ("metric", "low", "high")}
            told = {"layer": ALONE[row["arm"]], "where": row["arm"], "value": row["gain"], "unit": "x"}
            yield kept | told | {"n": row["n_requests"], "verdict": verdict_head(row["verdict"])}


def _rates(material: Material) -> Iterator[dict[str, Any]]:
    """Hit rates of arms with a cache, of each condition that goes beyond a first turn, which has nothing to find."""
    steps = compared(material.info, material.steps)
    for (arm, condition), of in steps[steps["cache"] == "cold"].groupby(["arm", "condition"], sort=False):
        use: CacheUse = cache_use(of)
        again = (of["turn"] > 1).any()
        if again and arm in CACHED and use.hit_rate is not None and "method=" not in str(condition):
            where = ", ".join(filter(None, (str(arm), str(condition))))
            told = {"layer": CACHED[str(arm)], "metric": "hit_rate", "where": where, "unit": "%"}
            yield told | {"value": 100 * use.hit_rate, "n": use.n, "agents": agents_of(str(condition)) or 1}


def _lengths(material: Material) -> Iterator[dict[str, Any]]:
    """Tokens per round of the drafter of the arm `spec`, where one run has no others."""
    table = material.table
    for row in records(table[table["arm"] == "spec"]) if material.paired and not _drafted(material) else ():
        told = {"layer": "speculation", "metric": "acceptance_length", "where": "spec", "unit": "tokens"}
        yield told | {"value": row["acceptance_length"], "n": row["n_steps"] - row["n_failed"]}


def _drafted(material: Material) -> bool:
    return any("method=" in condition for condition in material.conditions)


def _drafters(material: Material) -> Iterator[dict[str, Any]]:
    """Each drafter's tokens per round, and its gain over the same arm without one."""
    if not _drafted(material):
        return
    lengths, gains = drafter_table(material.measured), gain_table(material.measured)
    for row in records(lengths[lengths["by"] == "all"]):
        span = {"low": row["length_low"], "high": row["length_high"], "n": row["n"], "where": row["method"]}
        told = {"layer": "speculation", "metric": "acceptance_length", "unit": "tokens", "value": row["length"]}
        yield told | span
    for row in records(gains[gains["by"] == "all"]):
        told = {"layer": "speculation", "metric": "e2e_s", "unit": "x", "value": row["gain"], "where": row["method"]}
        verdict = _DRAFTER_WORDS.get(row["verdict"], TOO_FEW)
        yield told | {"low": row["low"], "high": row["high"], "n": row["n_pairs"], "verdict": verdict}


def _under_load(material: Material) -> Iterator[dict[str, Any]]:
    """The split over the same arm without it, at each number of agents; told apart where intervals do not meet."""
    spans = windows(material.events)
    if not len(spans):
        return
    rows = {(row["arm"], row["agents"]): row for row in records(interference(material.steps, material.chunks, spans))}
    for arm in (arm for arm in ARMS if arm.pd_split):
        for agents in sorted({agents for label, agents in rows if label == arm.label}):
            without, split = rows.get((replace(arm, pd_split=False).label, agents)), rows[arm.label, agents]
            for metric, names in _UNDER_LOAD.items() if without is not None else ():
                told = {"layer": "pd_split", "metric": metric, "unit": "x", "agents": agents}
                told |= {"where": f"{arm}, {counted(agents, 'agent')}", "n": split["n_sent"] - split["n_failed"]}
                yield told | _ratio(without or {}, split, names)


def _ratio(without: dict[str, Any], split: dict[str, Any], names: tuple[str, str, str]) -> dict[str, Any]:
    value, low, high = names
    if any(missing(row[name]) for row in (without, split) for name in names):
        gain = None if missing(without[value]) or missing(split[value]) else without[value] / split[value]
        return {"value": gain, "verdict": TOO_FEW}
    verdict = "better" if split[high] < without[low] else "worse" if split[low] > without[high] else TOO_FEW
    return {"value": without[value] / split[value], "verdict": verdict}


def prefill_seqs(run: Run) -> int | None:
    """The most requests that a prefill process of this run might have at once (--max-num-seqs); None: none told."""
    engines = run.info.fingerprint.get("engines") or {}
    told = [
        process["argv"][process["argv"].index("--max-num-seqs") + 1]
        for engine in engines.values()
        for process in engine.get("processes", ())
        if process.get("role") == "prefill" and "--max-num-seqs" in (process.get("argv") or ())
    ]
    return max(map(int, told)) if told else None


def draft_room(run: Run) -> DraftRoom | None:
    """Memory of the machine and KV blocks beside a draft model, against no drafter; None: the run had not both."""
    rooms = {row["drafter"]: row for row in records(room_table(run))}
    beside, alone = rooms.get("draft_model"), rooms.get(NO_DRAFTER)
    if beside is None or alone is None or missing(beside["used_gb"]) or missing(alone["used_gb"]):
        return None
    share = None if missing(beside["share"]) else float(beside["share"])
    return DraftRoom(beside["used_gb"] - alone["used_gb"], share, int(min(beside["n_used"], alone["n_used"])))
