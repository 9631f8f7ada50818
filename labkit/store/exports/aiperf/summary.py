"""`profile_export_aiperf.json`: the distribution of every metric over one cell's requests, and totals and rates.

Failed requests are counted and in no distribution; warm-up is under `warmup_metrics`. Rates over time are left out
where other requests ran between the cell's first and last: AIPerf's duration would count their time, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from labkit.core.records import RunInfo
from labkit.store.exports.aiperf.metrics import UNITS, metrics_of
from labkit.store.exports.aiperf.records import error_of
from labkit.store.exports.aiperf.totals import Values, counts, over_time, totals
from labkit.store.exports.files import known
from labkit.store.exports.requests import Cell, Request, stable_id, undisturbed
from labkit.store.exports.spread import spread
from labkit.store.exports.wall import Wall

SCHEMA_VERSION = "1.4"
_PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)


def summary_of(
    info: RunInfo, cell: Cell, mine: Sequence[Request], everyone: Sequence[Request], wall: Wall
) -> dict[str, Any]:
    """The file's content. `aiperf_version` is absent: AIPerf measured nothing here."""
    profiled, warmup = ([r for r in mine if r.step.warmup is flag] for flag in (False, True))
    times = [t for r in profiled or mine for t in (r.step.t_send, r.t_over)]
    values = {
        "schema_version": SCHEMA_VERSION,
        "benchmark_id": stable_id(info.id, *cell),
        **_metrics(profiled, timed=bool(profiled) and undisturbed(profiled, everyone)),
        "run_info": _run_info(info, cell),
        "was_cancelled": info.state == "cancelled",
        "is_complete": info.state == "done",
        "incomplete_reason": None if info.state == "done" else info.note or info.state,
        "error_summary": _errors(profiled),
        "start_time": wall.iso(min(times)),
        "end_time": wall.iso(max(times)),
        "warmup_metrics": _metrics(warmup, timed=False) or None,
    }
    return known(values)


def _metrics(requests: Sequence[Request], timed: bool) -> dict[str, Any]:
    """Distributions, totals and counts; with `timed` also the duration and the rates over it."""
    measured = [metrics_of(request) for request in requests]
    values: Values = {name: [one[name] for one in measured if name in one] for name in UNITS}
    spreads = {name: _result(UNITS[name], _flat(found)) for name, found in values.items() if found}
    rates = over_time(requests, measured) if timed else {}
    return {**spreads, **counts(requests), **totals(values), **rates}


def _flat(values: list[Any]) -> Iterable[float]:
    return chain.from_iterable(values) if isinstance(values[0], list) else values


def _result(unit: str, values: Iterable[float]) -> dict[str, Any]:
    found = list(values)
    told = spread(found, _PERCENTILES)
    return {"unit": unit, "avg": told.pop("mean"), **told, "count": len(found)}


def _errors(requests: Sequence[Request]) -> list[dict[str, Any]]:
    found = Counter(tuple(error.items()) for r in requests if (error := error_of(r)))
    return [{"error_details": dict(error), "count": count} for error, count in found.most_common()]


def _run_info(info: RunInfo, cell: Cell) -> dict[str, Any]:
    values = {
        "benchmark_id": stable_id(info.id, *cell),
        "sweep_id": info.id,
        "random_seed": info.asked.get("seed"),
        "trial": cell.repeat,
        "run_label": cell.label,
        "variation_label": cell.variation,
        "variation_values": {k: v for k, v in cell._asdict().items() if k != "repeat"},
    }
    return known(values)
