"""Claims: numbers that somebody published, with who, when, on what, and what to keep in mind.

A claim is never a measurement of this lab. It is not averaged with one, not joined to one, and drawn hollow. A claim
without a number stays one: the statement says it, and `value` is null.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd

from labkit.core.arms import LAYERS
from labkit.core.columns import column
from labkit.core.errors import BadInput
from labkit.core.paths import data_dir
from labkit.core.records import Record
from labkit.store.declared_csv import frame_of, read_declared

CLAIM_LAYERS = (*LAYERS, "none")
READ = ("source read", "search excerpt", "own calculation", "not available")
DATED = ("published", "read")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_FILLED = ("id", "metric", "statement", "source", "caution")


@dataclass(frozen=True, kw_only=True)
class ClaimRow(Record):
    """One claim: a row of a file in `data/claims`."""

    id: str = column("string", "", "name of the claim, the only one with it")
    layer: str = column("string", "", "prefix_caching, pd_split, speculation, or none")
    metric: str = column("string", "", "what was measured, in the lab's words where it has one")
    statement: str = column("string", "", "the claim in a sentence")
    value: float | None = column("float64", "see unit", "the number; null: the claim has none", nullable=True)
    unit: str = column("string", "", "`x`: a gain over the baseline, above 1 is better; %, tokens, tok/s, ...")
    low: float | None = column("float64", "see unit", "lower end, where a range was published", nullable=True)
    high: float | None = column("float64", "see unit", "upper end, where a range was published", nullable=True)
    baseline: str = column("string", "", "what it is compared with; empty: nothing")
    model: str = column("string", "", "model; empty: not said")
    hardware: str = column("string", "", "hardware; empty: not said")
    engine: str = column("string", "", "engine and version; empty: not said")
    load: str = column("string", "", "requests, lengths and rate; empty: not said")
    n: str = column("string", "", "requests and repeats that the number rests on; empty: not said")
    source: str = column("string", "", "who said it, in a few words: the label on figures")
    url: str = column("string", "", "where; empty only where `read` is `not available`")
    date: str = column("string", "", "YYYY, YYYY-MM or YYYY-MM-DD")
    dated: str = column("string", "", "whether `date` is when it was `published` or when we `read` it")
    read: str = column("string", "", "source read, search excerpt, own calculation, or not available")
    caution: str = column("string", "", "what to keep in mind before quoting it")
    today: str = column(
        "string", "", "what is true today, where that is something else; empty: nothing known against it"
    )


def load_claims(folder: Path | None = None) -> pd.DataFrame:
    """Every claim of `folder` (default: those of the project); columns as ClaimRow declares them.

    Raises BadInput with file, line and field.
    """
    folder = folder or data_dir() / "claims"
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise BadInput("claims", str(folder), "a folder with .csv files", "The project's own are in data/claims.")
    rows: list[ClaimRow] = []
    for path in files:
        for line, row in read_declared(path, ClaimRow):
            _check(f"{path.name} line {line}", row, {known.id for known in rows})
            rows.append(row)
    return frame_of(ClaimRow, rows)


def _check(where: str, row: ClaimRow, taken: set[str]) -> None:
    for name, allowed in (("layer", CLAIM_LAYERS), ("read", READ), ("dated", DATED)):
        if getattr(row, name) not in allowed:
            raise BadInput(f"{where}, {name}", getattr(row, name), ", ".join(allowed))
    for name in _FILLED:
        if not getattr(row, name):
            raise BadInput(f"{where}, {name}", "", "not empty")
    if row.id in taken:
        raise BadInput(f"{where}, id", row.id, "a name that no other claim has")
    if not _DATE.fullmatch(row.date):
        raise BadInput(f"{where}, date", row.date, "YYYY, YYYY-MM or YYYY-MM-DD")
    if row.value is not None and not row.unit:
        raise BadInput(f"{where}, unit", "", "the unit of the value")
    _check_url(where, row)


def _check_url(where: str, row: ClaimRow) -> None:
    parts = urlsplit(row.url)
    if row.read == "not available" and not row.url:
        return
    if parts.scheme not in ("http", "https") or "." not in parts.netloc or " " in row.url:
        raise BadInput(f"{where}, url", row.url, "an address that starts with https://")
