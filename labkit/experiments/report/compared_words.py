"""The sentences of a comparison: its abstract and its limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labkit.analysis.format import missing, times
from labkit.experiments.comparison import RunComparison
from labkit.experiments.report.english import counted, interval, listed, records, sentence, smallest

_MOST = 3


def abstract(found: RunComparison) -> list[str]:
    """Three to five sentences: what was compared, what differs, what B gains, who solved what."""
    said = (_what(found), _differs(found), *_gains(found), _solved(found))
    return [sentence(f"{text[:1].upper()}{text[1:]}") for text in said if text]


def _what(found: RunComparison) -> str:
    table = found.table
    if table.empty:
        return "The two runs have no arm in common in any condition, so nothing can be compared"
    pairs = int(table.loc[(table["metric"] == "e2e_s") & table["paired"], "n_requests"].sum())
    how = f"{counted(pairs, 'pair')} of the same request" if found.paired else "without any request in common"
    return f"run B is compared with run A in {counted(table['arm'].nunique(), 'arm')}, {how}"


def _differs(found: RunComparison) -> str:
    """The heaviest differences by name."""
    names = list(dict.fromkeys(one.key.split(".")[0] for one in found.fingerprint))
    if not names:
        return "they ran on the same machine, versions and engines" if found.a.run.info.fingerprint else ""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"their fingerprints differ in {', '.join(names[:_MOST])}{more}"


def _gains(found: RunComparison) -> Iterator[str]:
    """End to end, arm by arm: what can be told, and what cannot."""
    rows = [row for row in records(found.table) if row["metric"] == "e2e_s" and not missing(row["gain"])]
    told = [_gain(row) for row in rows if not row["verdict"].startswith("too few")]
    untold = [row for row in rows if row["verdict"].startswith("too few")]
    if told:
        yield f"end to end, run B was {listed(told)}"
    if untold:
        short = len(untold) > _MOST  # then their n and what it shows are left to the table
        yield f"too few to tell, end to end: {listed(map(_short if short else _gain, untold))}"


def _gain(row: dict[str, Any]) -> str:
    span = "" if missing(row["low"]) else f"95 % interval {interval(row)}, "
    shows = "" if missing(row["smallest_gain"]) else f"; this n shows gains from {smallest(row['smallest_gain'])} on"
    n = f"n = {counted(row['n_requests'], 'request')} of {counted(row['n_tasks'], 'task')}"
    unsure = shows if row["verdict"].startswith("too few") else ""
    return f"{times(row['gain'])} as fast under {state_name(row)} ({span}{n}{unsure})"


def _short(row: dict[str, Any]) -> str:
    span = "" if missing(row["low"]) else f" ({interval(row)})"
    return f"{times(row['gain'])} under {state_name(row)}{span}"


def _solved(found: RunComparison) -> str:
    sides = [(name, side.solved) for name, side in (("A", found.a), ("B", found.b)) if len(side.solved)]
    said = [f"run {name} solved {of['n_solved'].sum()} of {of['n_attempts'].sum()}" for name, of in sides]
    return listed(said)


def state_name(row: dict[str, Any]) -> str:
    """`prefix`, or `prefix, agents=4, warm`."""
    return ", ".join(filter(None, (row["arm"], row["condition"], "warm" if row["cache"] == "warm" else "")))


def limits(found: RunComparison) -> Iterator[str]:
    """What a comparison of these two cannot say."""
    if found.fingerprint:
        yield "What differs above differs in everything at once: a gain is of all of it together, not of one part."
    if not found.paired:
        yield "Requests are not the same: what differs between the tasks is in every gain."
    elif any(not row.same for row in found.requests):
        yield "Requests that are not the same in both runs are left out of the arms that have others."
    yield "The runs were not made in turns: whatever changed on the machine between them looks like a gain."
    for name, side in (("A", found.a), ("B", found.b)):
        info = side.run.info
        if info.state != "done":
            yield f"Run {name} is {info.state}."
        yield from (f"Run {name}: {sentence(line)}" for line in info.note.splitlines())
        yield from (f"Run {name}: {sentence(problem)}" for problem in side.run.problems())
        unsure = [one.arm for one in side.cold if one.state != "confirmed"]
        if unsure:
            yield f"Run {name}: cold is unconfirmed in {listed(dict.fromkeys(unsure))}."
