"""What two runs mean beside each other, in two plain sentences: what the second gains, and what not to conclude."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from labkit.analysis.format import missing, plain
from labkit.experiments.dashboard.compare.doubts import Doubt
from labkit.experiments.dashboard.compare.gain_words import arm_in_words, evidence, gained, is_told, why_untold
from labkit.experiments.dashboard.compare.meant import Meaning
from labkit.experiments.dashboard.compare.two_runs import TwoRuns
from labkit.experiments.report.english import counted, listed, records

_MOST = 3
_APART = "The runs were not made in turns: whatever changed on the machine between them looks like a gain."
Row = Mapping[str, Any]


def meaning_of_two(
    of: TwoRuns, rows: pd.DataFrame, metric: str, a: Sequence[Doubt] = (), b: Sequence[Doubt] = ()
) -> Meaning:
    """`rows`: of `of.table`, the passes that are looked at. `a`, `b`: what is to be known of each run by itself."""
    found = [row for row in records(rows) if row["metric"] == metric and not missing(row["gain"])]
    told = [row for row in found if is_told(row)]
    cautions = list(dict.fromkeys(_cautions(of, [row for row in found if not is_told(row)], told)))
    return Meaning(
        finding=_finding(of, found, told),
        caution=cautions[0],
        told=bool(told),
        doubts=(*(Doubt(words=words) for words in cautions[1:]), *_of_run("A", a), *_of_run("B", b)),
    )


def _finding(of: TwoRuns, found: Sequence[Row], told: Sequence[Row]) -> str:
    if of.table.empty:
        return "The two runs measured no setting in common, so they cannot be compared."
    if not found:
        return "No request was measured on this in both runs, so they cannot be compared on it."
    if not told:
        return f"Too few to tell whether run B differs from run A: {_seen(found)}, on {_basis(found)}."
    open_ = len(found) - len(told)
    rest = f"; of the other {counted(open_, 'setting')} it is too few to tell" if open_ else ""
    return f"Run B against run A: {_seen(told)}, on {_basis(told)}{rest}."


def _seen(rows: Sequence[Row]) -> str:
    """Each setting by itself; of many, how many went which way and how far."""
    if len(rows) <= _MOST:
        return listed(f"with {arm_in_words(row['arm'])} {_said(row)}" for row in rows)
    better, worse = ([row for row in rows if (row["gain"] >= 1) == way] for way in (True, False))
    return listed(_range(some, len(rows)) for some in (better, worse) if some)


def _said(row: Row) -> str:
    return "nothing changed (within 5 %)" if str(row["verdict"]).startswith("same") else f"{gained(row)}"


def _range(rows: Sequence[Row], of: int) -> str:
    """`in 5 of 8 settings answers came 1.13 to 2.89 times as fast`."""
    gains = sorted(max(row["gain"], 1 / row["gain"]) for row in rows)
    whole = gained({**rows[0], "low": None, "gain": gains[0] if rows[0]["gain"] >= 1 else 1 / gains[0]})
    span = " to ".join(dict.fromkeys(map(plain, (gains[0], gains[-1]))))
    return f"in {len(rows)} of {counted(of, 'setting')} {whole.replace(plain(gains[0]), span, 1)}"


def _basis(rows: Sequence[Row]) -> str:
    most = max(rows, key=lambda row: int(row["n_requests"]))
    return evidence(most) + ("" if most["paired"] else ", which were not the same ones in both")


def _cautions(of: TwoRuns, untold: Sequence[Row], told: Sequence[Row]) -> Iterator[str]:
    """Heaviest first: never empty."""
    if of.table.empty:
        yield "Pick two runs that share a setting, or look at each run alone."
    heavy = [fact.what for fact in of.ran_on if fact.heavy]
    if heavy:
        more = f" and {len(heavy) - _MOST} more" if len(heavy) > _MOST else ""
        named = f"{', '.join(heavy[:_MOST])}{more}" if more else listed(heavy)
        yield f"Do not put a difference down to one cause: the runs differ in {named}, and it is of all that together."
    if not of.paired and not of.table.empty:
        yield "The runs did not send the same requests, so what differs between the tasks is in every number."
    elif untold:
        whys = dict.fromkeys(why_untold(row) for row in untold)
        yield f"Do not conclude anything of {_whom(untold, told)}: {next(iter(whys))}."
    yield _APART


def _of_run(name: str, doubts: Sequence[Doubt]) -> Iterator[Doubt]:
    return (replace(doubt, words=f"Run {name}: {doubt.words}") for doubt in doubts)


def _whom(untold: Sequence[Row], told: Sequence[Row]) -> str:
    if not told:
        return "these sizes"
    names = [arm_in_words(row["arm"]) for row in untold]
    return listed(names) if len(names) <= _MOST else f"{len(names)} of the settings"
