"""Telemetry as counter tracks: KV usage, running requests, CPU; what could not be read leaves a hole, not a 0."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from labkit.store.exports.perfetto.lanes import us


def counters(samples: pa.Table, first_pid: int) -> Iterator[dict[str, Any]]:
    """One group per source, one counter per metric, named with its unit."""
    pids: dict[str, int] = {}
    for batch in samples.select(["t", "source", "name", "unit", "value"]).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            source = row["source"]
            if source not in pids:
                pids[source] = first_pid + len(pids)
                named = {"pid": pids[source], "tid": 0, "args": {"name": source}}
                yield {"ph": "M", "name": "process_name", **named}
            if row["value"] is not None and math.isfinite(row["value"]):
                yield _counter(row, pids[source])


def _counter(row: dict[str, Any], pid: int) -> dict[str, Any]:
    name = f"{row['name']} ({row['unit']})" if row["unit"] else row["name"]
    return {"ph": "C", "name": name, "pid": pid, "tid": 0, "ts": us(row["t"]), "args": {"value": row["value"]}}
