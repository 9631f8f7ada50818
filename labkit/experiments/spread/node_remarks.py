"""What a run that was spread has to say of its nodes: who measured what, how they differ, whose client was slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.client_bound import client_bound
from labkit.analysis.tables import measured
from labkit.experiments.spread.units import Unit
from labkit.store.fingerprint import difference
from labkit.store.runs import Run

_SHOWN = 4


def one_fingerprint(nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The run's, from each node's: the first one's facts for whoever compares runs, and every node's own under `nodes`.

    Recordings are the same everywhere and stand once.
    """
    first = next(iter(nodes.values()))
    own = {name: {key: value for key, value in facts.items() if key != "recordings"} for name, facts in nodes.items()}
    return {**first, "nodes": own}


def differing(nodes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One sentence for each node that is not like the first; empty when all are alike."""
    (first, facts), *others = nodes.items()
    found = {name: difference(facts, other) for name, other in others}
    return [
        f"{name} is not like {first}: {_in_words(differs)}: compare arms within a repeat, not over nodes"
        for name, differs in found.items()
        if differs
    ]


def _in_words(differs: Sequence[Any]) -> str:
    shown = [f"{each.key} is {_short(each.b)} and there {_short(each.a)}" for each in differs[:_SHOWN]]
    return "; ".join(shown + [f"and {len(differs) - _SHOWN} more"] * (len(differs) > _SHOWN))


def _short(value: Any) -> str:
    text = "not there" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def who_measured(done: Mapping[int, str], units: Sequence[Unit]) -> str:
    """`node-1 measured repeats 1, 3; node-2 measured repeat 2`; empty when nothing was."""
    named = {unit.repeat: unit for unit in units}
    by_node: dict[str, list[int]] = {}
    for repeat, node in sorted(done.items()):
        if named[repeat].follows is None:
            by_node.setdefault(node, []).append(repeat + 1)
    said = [
        f"{node} measured repeat{'s' * (len(repeats) > 1)} {', '.join(map(str, repeats))}"
        for node, repeats in by_node.items()
    ]
    return "; ".join(said)


def uneven(done: Mapping[int, str], steps: pd.DataFrame) -> list[str]:
    """Arms that some of the nodes did not measure: their sums over nodes are not to be held against the others'."""
    rows = measured(steps)
    nodes = rows["engine"].str.split("/", n=1).str[0]
    every = set(done.values())
    found = {str(arm): set(nodes[rows["arm"] == arm]) for arm in rows["arm"].unique()}
    return [
        f"{arm} was measured on {', '.join(sorted(mine))} alone: hold it against the pairs of its repeats, not sums"
        for arm, mine in found.items()
        if mine < every
    ]


def slow_clients(run: Run, nodes: Sequence[str]) -> list[str]:
    """The verdict on the client of each node, from its own rows and samples."""
    steps, chunks, samples = run.steps(), run.chunks(), run.samples()
    said = []
    for node in nodes:
        own = steps[steps["engine"].str.startswith(f"{node}/")]
        there = samples[samples["source"] == f"{node}/client"].assign(source="client")
        parts = chunks[chunks["repeat"].isin(measured(own)["repeat"].unique())]
        words = client_bound(own, parts, there).in_words()
        said += [f"{node}: {words}"] if words else []
    return said
