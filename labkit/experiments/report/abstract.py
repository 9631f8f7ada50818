"""The abstract: three to five sentences, every number in them from the tables below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.format import DASH, missing, percent, times
from labkit.analysis.outcomes import solved
from labkit.experiments.agent_asked import NO_ARM
from labkit.experiments.report.english import (
    LAYER_NAMES,
    capital,
    counted,
    interval,
    listed,
    p_value,
    records,
    sentence,
    smallest,
    term_name,
    unmissed,
)
from labkit.experiments.report.findings import findings
from labkit.experiments.report.material import Material, Slice
from labkit.experiments.report.results.success import confirmed

_MOST = 5
_ALPHA = 0.05


def abstract(material: Material) -> list[str]:
    """The sentences, most important first after what was measured."""
    said = [sentence(text) for text in _said(material) if text]
    return [capital(text) for text in said[:_MOST]]


def _said(material: Material) -> Iterator[str]:
    yield _what(material)
    yield from (_success(material), *findings(material), *_effects(material), _cache(material))
    yield from (_ended(material), _lost(material))


def _what(material: Material) -> str:
    n, failed = len(material.measured), len(material.measured) - material.n_finished
    if not n:
        state = "still measures" if material.info.state == "running" else f"ended {material.info.state}"
        return f"This run {state}: no request has been measured, so it answers nothing yet"
    tasks, repeats = material.measured["task"].nunique(), material.measured["repeat"].nunique()
    lost = f", of which {failed} failed" if failed else ", none of which failed"
    of = f"{counted(tasks, 'task')}, {counted(repeats, 'repeat')}"
    return f"{counted(n, 'measured request')} {_under(material.arms)} ({of}){lost}"


def _under(arms: list[str]) -> str:
    return "of a script, which no arm served" if arms == [NO_ARM] else f"under {listed(arms)}"


def _ended(material: Material) -> str:
    """How a run ended that did not come to its end as it was meant to, in its own words."""
    info = material.info
    if info.state == "done" or not len(material.measured):
        return ""
    words = "the run still goes on" if info.state == "running" else f"the run is {info.state}"
    first = next(iter(info.note.splitlines()), "")
    return f"{words}: {first}" if first else words


def _success(material: Material) -> str:
    rows = records(solved(material.outcomes))
    said = [f"{row['arm']} solved {row['n_solved']} of {counted(row['n_attempts'], 'attempt')}" for row in rows]
    told = f"; {confirmed(material)}" if confirmed(material) else ""
    return f"judged by the hidden checks, {listed(said)}{told}" if said else ""


def _effects(material: Material) -> Iterator[str]:
    """The end-to-end gain of each layer, in one sentence; then the interactions that are clear."""
    of = material.headline
    if material.conditions:
        return
    if of is None:
        yield from _ratios(material)
        return
    whole = of.effects[(of.effects["metric"] == "e2e_s") & of.effects["gain"].notna()]
    together = whole["term"].str.contains(":")
    yield from _gains(of, records(whole[~together]))
    yield _together(records(whole[together & (whole["p_holm"] < _ALPHA) & ~whole["verdict"].str.startswith(TOO_FEW)]))


def _gains(of: Slice, rows: list[dict[str, Any]]) -> Iterator[str]:
    """What can be told, and then what cannot, with what it would have taken."""
    told = [row for row in rows if not row["verdict"].startswith(TOO_FEW)]
    untold = [row for row in rows if row["verdict"].startswith(TOO_FEW)]
    for some in filter(None, (told, untold)):
        alike = len({_n(row) for row in some}) == 1  # then n is said once
        facts = filter(None, (of.condition, _n(some[0]) if alike else ""))
        where = f"end to end ({', '.join(facts)})" if of.condition or alike else "end to end"
        if some is told:
            yield f"{where}, {listed(f'{_layer(row)} made a request {_told(row, alike)}' for row in told)}"
        else:
            said = listed(f"{_layer(row)} ({', '.join((_fast(row), *_facts(row, alike)))})" for row in untold)
            yield f"{where}, too few to tell of {said}{_needed(untold)}"


def _layer(row: dict[str, Any]) -> str:
    return LAYER_NAMES[row["term"]]


def _told(row: dict[str, Any], alike: bool) -> str:
    facts = ", ".join(_facts(row, alike))
    return f"{_fast(row)} ({facts})" if facts else _fast(row)


def _fast(row: dict[str, Any]) -> str:
    return f"{times(row['gain'])} as fast"


def _n(row: dict[str, Any]) -> str:
    return f"n = {counted(row['n_requests'], 'request')} of {counted(row['n_tasks'], 'task')}"


def _facts(row: dict[str, Any], alike: bool) -> Iterator[str]:
    """Interval and p; n unless it is said of all; and what n would have shown, where that is what is wanting."""
    if not missing(row["low"]):
        yield f"95 % interval {interval(row)}"
        yield f"p {_p(row['p_holm'])} after Holm"
    if not alike:
        yield _n(row)
    wanting = row["verdict"].startswith(TOO_FEW) and not missing(row["p_holm"]) and row["p_holm"] >= _ALPHA
    if wanting and not missing(row["smallest_gain"]):
        yield f"this n shows gains from {smallest(row['smallest_gain'])} on"


def _p(p: float | None) -> str:
    told = p_value(p)
    return told if told.startswith("<") else f"= {told}"


def _needed(rows: list[dict[str, Any]]) -> str:
    """What one would have needed, in the verdicts' words, each once."""
    whys = dict.fromkeys(unmissed(row["verdict"]).partition(": ")[2] for row in rows)
    said = "; ".join(filter(None, whys))
    return f": {said}" if said else ""


def _together(rows: list[dict[str, Any]]) -> str:
    """The interactions that are clear of 1: layers that do not gain the product of what each gains alone."""
    said = [f"{term_name(row['term'])} {times(row['gain'])} (95 % interval {interval(row)})" for row in rows]
    return f"together, layers give this much of the product of their gains: {listed(said)}" if said else ""


def _ratios(material: Material) -> Iterator[str]:
    """Where no effect of a layer can be had: each arm against base, if there is one."""
    table = material.table
    rows = records(table[table["ratio_to_base"].notna() & (table["arm"] != "base")])
    said = [f"{row['arm']} {times(row['ratio_to_base'])} (n = {row['n_pairs']})" for row in rows]
    if said:
        yield f"as fast as base, end to end over the requests that both finished: {listed(said)}; without intervals"


def _cache(material: Material) -> str:
    table = material.table
    hits = table[table["hit_rate"] > 0].sort_values("hit_rate", ascending=False, kind="stable")
    if not len(hits):
        return ""
    best = records(hits)[0]
    most = percent(best["hit_ceiling"])
    ceiling = "" if most == DASH else f", of {most} that a perfect cache could have served"
    return f"{percent(best['hit_rate'])} of the prompt tokens of {best['arm']} came from the prefix cache{ceiling}"


def _lost(material: Material) -> str:
    gone = [*material.view.refused, *material.view.died]
    return f"not measured to the end: {listed(gone)}; the engine's own words are under Limits" if gone else ""
