"""How many agents keep an objective, as sentences: each number with the requests that it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.analysis.capacity import CapacityRow
from labkit.analysis.format import percent
from labkit.analysis.goodput import GoodputRow
from labkit.analysis.slo import Slo

Levels = Sequence[GoodputRow]


def headline(found: Sequence[CapacityRow], levels: Levels, slo: Slo) -> str:
    """The best arm first, then what the others reach, and of which nothing certain can be said; empty without any.

    `With 2 agents at once, prefix keeps TTFT <= 3 s and ITL p99 <= 0.5 s for 94 % of its requests (n 61; 90 % are asked
    for); base keeps it for 1 (n 40).`
    """
    if not found:
        return ""
    best, *rest = sorted(found, key=lambda row: (row.agents, row.at_least), reverse=True)
    unsure = [row.arm for row in found if row.too_few]
    few = f" Too few requests to tell for {_listed(unsure)}: read it as a first look." if unsure else ""
    if best.agents == 0:
        return f"{_nobody(found, levels, slo)}.{few}"
    return f"{'; '.join([_best(best, levels, slo), *(_other(row, levels) for row in rest)])}.{few}"


def kept_by(found: CapacityRow, levels: Levels) -> str:
    """One arm's answer with its interval, and the level that it rests on."""
    row = _at(found, levels)
    high = f"{found.high}" if found.high is not None else f"more than {found.most_tried}"
    about = f"95 %: {found.low} to {high}"
    if row is None:
        return f"{_count(found)} ({about}), read off between levels that were tried"
    at = "alone" if row.agents == 1 else f"with {row.agents} at once"
    return f"{_count(found)} ({about}); {at}, {percent(row.attainment)} of {row.n_sent} requests kept it"


def _count(found: CapacityRow) -> str:
    if found.agents == 0:
        return "fewer than 1 agent"
    return f"{found.agents} or more agents" if found.at_least else _agents(found.agents)


def _nobody(found: Sequence[CapacityRow], levels: Levels, slo: Slo) -> str:
    rows = [row for each in found if (row := _at(each, levels))]
    shares = ", ".join(f"{row.arm} for {percent(row.attainment)} (n {row.n_sent})" for row in rows)
    asked = f"{100 * slo.share:g} % of requests"
    return f"No arm keeps {slo.asked} for {asked} with even {_agents(min(row.agents for row in rows))}: {shares}"


def _best(found: CapacityRow, levels: Levels, slo: Slo) -> str:
    row, asked = _at(found, levels), f"{100 * slo.share:g} % are asked for"
    most = " the most that were tried," if found.at_least else ""
    kept = f"{percent(row.attainment)} of its requests (n {row.n_sent}; {asked})" if row else _between(found, slo)
    return f"With {_agents(found.agents)} at once,{most} {found.arm} keeps {slo.asked} for {kept}"


def _other(found: CapacityRow, levels: Levels) -> str:
    row = _at(found, levels)
    n = f" (n {row.n_sent})" if row else ""
    if found.agents == 0:
        return f"{found.arm} keeps it for fewer than 1{n}"
    return f"{found.arm} keeps it for {found.agents}{' or more' * found.at_least}{n}"


def _at(found: CapacityRow, levels: Levels) -> GoodputRow | None:
    """The level that the answer is about, or the lowest where not even that held; None: read off between levels."""
    mine = [row for row in levels if row.arm == found.arm]
    if found.agents == 0:
        return min(mine, key=lambda row: row.agents, default=None)
    return next((row for row in mine if row.agents == found.agents), None)


def _between(found: CapacityRow, slo: Slo) -> str:
    return f"{100 * slo.share:g} % of its requests, read off between levels that were tried (n {found.n_sent} in all)"


def _agents(count: int) -> str:
    return "1 agent" if count == 1 else f"{count} agents"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
