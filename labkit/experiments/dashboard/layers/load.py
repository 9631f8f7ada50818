"""What company costs an agent, split and not: the part of the split's section that only a run under load has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.concurrency import windows
from labkit.analysis.format import seconds
from labkit.analysis.interference import interference
from labkit.analysis.stalls import alone
from labkit.experiments.dashboard.layers.words import Fact
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import counted, listed, records
from labkit.experiments.report.material import drawable
from labkit.plots.interference import TimelineInfo, timeline_info
from labkit.plots.load_lines import LoadInfo, load_info


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """TTFT and ITL against the number of agents, the clearest moment, and the heaviest load in words and numbers."""

    words: str
    facts: tuple[Fact, ...]
    lines: tuple[LoadInfo, ...]
    moment: TimelineInfo


def under_load(opened: Opened, arm: str, twin: str) -> Loaded | None:
    """What company costs, split and not; None where the run had no windows under load."""
    spans = windows(opened.events)
    if not len(spans):
        return None
    steps, chunks = drawable(opened.steps), drawable(opened.chunks)
    rows = interference(steps, chunks, spans)
    heaviest = heaviest_load(rows, arm, twin)
    moment = timeline_info(steps, chunks, alone(chunks, spans), int(spans["agents"].max()))
    return Loaded(
        words=load_words(heaviest, arm),
        facts=load_facts(heaviest, arm),
        lines=(load_info(rows, "ttft"), load_info(rows, "itl")),
        moment=moment,
    )


def heaviest_load(rows: pd.DataFrame, arm: str, twin: str) -> dict[str, dict[str, Any]]:
    """Of `interference`: the rows of arm and twin, by arm, with most agents that both had; without a twin the arm's."""
    both = [arm, twin] if (rows["arm"] == twin).any() else [arm]
    shared = set.intersection(*(set(rows.loc[rows["arm"] == one, "agents"]) for one in both))
    here = records(rows[rows["arm"].isin(both) & (rows["agents"] == max(shared, default=0))])
    return {row["arm"]: row for row in here}


def load_words(heaviest: dict[str, dict[str, Any]], arm: str) -> str:
    """The heaviest load in words, the arm first; empty without a row."""
    if arm not in heaviest:
        return ""
    order = sorted(heaviest, key=lambda one: one != arm)
    firsts, gaps = (
        listed(f"{seconds(heaviest[one][name])} under {one}" for one in order) for name in ("ttft_p50_s", "itl_p99_s")
    )
    few = "; too few to tell" if any(row["too_few"] for row in heaviest.values()) else ""
    agents = counted(int(heaviest[arm]["agents"]), "agent")
    return f"with {agents} the first token came after {firsts} (median), and the longest gaps were {gaps} (p99){few}"


def load_facts(heaviest: dict[str, dict[str, Any]], arm: str) -> tuple[Fact, ...]:
    """Time to first token and the longest gaps under that load, each beside the twin's."""
    if arm not in heaviest:
        return ()
    agents = counted(int(heaviest[arm]["agents"]), "agent")
    other = next((one for one in heaviest if one != arm), None)
    return tuple(
        Fact(
            label=label,
            value=seconds(heaviest[arm][name]),
            note=f"{other}: {seconds(heaviest[other][name])}" if other else f"with {agents}",
            help=f"{about} With {agents} at work, {counted(int(heaviest[arm]['n_agent_runs']), 'agent-run')}.",
        )
        for label, name, about in (
            ("First token", "ttft_p50_s", "Median time to the first token."),
            ("Longest gaps", "itl_p99_s", "99th percentile of the gaps between chunks."),
        )
    )
