"""Words that several sections need: names of layers and metrics, lists, numbers of things, cells of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.format import DASH, missing, plain, times

LAYER_NAMES = {
    "prefix_caching": "prefix caching",
    "pd_split": "splitting prefill from decode",
    "speculation": "speculation",
}
"""Layers as they are said in a sentence."""
METRIC_NAMES = {
    "e2e_s": "end to end",
    "ttft_s": "time to first token",
    "itl_p99_s": "ITL p99 of a request",
    "tokens_per_s": "tokens per second",
    "prompt_computed": "prompt tokens computed",
    "joules": "joules",
}


_MANY = 2
_BETWEEN = re.compile(r"(?<=\.) (?=[A-Z0-9])")
_MISSED = re.compile(r"; (?:a gain below|even a gain of) \S+x would be missed")


def term_name(term: str) -> str:
    """A layer, or `prefix caching × speculation`; any other name as it is."""
    return " × ".join(LAYER_NAMES.get(layer, layer) for layer in term.split(":"))


def listed(items: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    all_ = list(items)
    if len(all_) < 2:
        return "".join(all_)
    return f"{', '.join(all_[:-1])} and {all_[-1]}"


def counted(n: int, one: str, many: str = "") -> str:
    """`1 pass`, `15 passes`, `1,200 steps`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dicts by column."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def sentence(text: str) -> str:
    """The text with an end to it."""
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?", ":")) else f"{text}."


def sentences(notes: Iterable[str]) -> list[str]:
    """The sentences of several notes, each once."""
    return list(dict.fromkeys(one for note in notes for one in _BETWEEN.split(note) if one))


def capital(text: str) -> str:
    """The text with a large first letter; the others stay as they are."""
    return f"{text[:1].upper()}{text[1:]}"


def shown(value: Any) -> str:
    """A fact of a fingerprint or of what was asked, as text; a dash when it is not known."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(shown(each) for each in value) or DASH
    if isinstance(value, dict):
        return "; ".join(f"{name} {shown(each)}" for name, each in value.items()) or DASH
    return DASH if missing(value) or value == "" else str(value)


def cell(parts: Sequence[str], joint: str = " / ") -> str:
    """Several numbers in one cell; one dash when none was measured."""
    return DASH if all(part == DASH for part in parts) else joint.join(parts)


def interval(row: Mapping[str, Any]) -> str:
    """`1.12 to 1.98` of a row with `low` and `high`, or a dash."""
    return DASH if missing(row["low"]) else f"{plain(row['low'])} to {plain(row['high'])}"


def smallest(gain: float | None) -> str:
    """The smallest gain that an n shows; beyond a hundredfold it shows none that anybody looks for."""
    return "over 100x" if gain is not None and not missing(gain) and gain > 100 else times(gain)


def p_value(p: float | None) -> str:
    """Three digits after the point; `< 0.001` below."""
    if p is None or missing(p):
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def verdict_head(verdict: str) -> str:
    """A verdict's own words, without its reason: `too few to tell`, `better`, `not measured`."""
    return re.split("[:;,]", verdict, maxsplit=1)[0]


def unmissed(verdict: str) -> str:
    """A verdict without what would have been missed."""
    return _MISSED.sub("", verdict)


def reasons(rows: Iterable[Mapping[str, Any]], name: Callable[[Mapping[str, Any]], str]) -> list[str]:
    """What verdicts say beyond their own words, each once, with what it is said of: names, or all of the rows.

    What would be missed is left out: the smallest gain stands in the table.
    """
    said: dict[str, list[str]] = {}
    rows = list(rows)
    for row in rows:
        verdict = unmissed(row["verdict"])
        if verdict_head(verdict) != verdict:
            said.setdefault(verdict, []).append(name(row))
    return [f"{_whom(names, len(rows))}: {sentence(verdict)}" for verdict, names in said.items()]


def _whom(names: Sequence[str], rows: int) -> str:
    return "All of them" if rows > _MANY and len(names) == rows else listed(dict.fromkeys(names))
