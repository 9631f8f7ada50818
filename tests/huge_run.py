"""A run folder as large as anybody will have: 100 agents, eight arms, 20,000 steps, 1,000,000 chunks, in seconds.

Made up, but through the real schema: the tables go through the store's own writer, and the events tell the same, so
that the folder opens with or without its Parquet files. Numbers have the shape of real ones: prompts that grow, hits
where prefix caching is on, drafts under speculation, transfers under the split, a failed step here and there.

    python tests/huge_run.py FOLDER        make one there, beside other runs, and print its id
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from huge_columns import LABELS, METRICS, Size, chunk_columns, sample_columns, step_columns

from labkit.core.records import SCHEMA, RunInfo
from labkit.store.jsonl import to_json
from labkit.store.layout import EVENTS, LOGS, Owner, write_run_json
from labkit.store.tables import schema_of, write_parquet

CREATED = "2026-01-31T12:00:00.000000+00:00"
FULL, SMALL = Size(), Size(turns=2, chunks=8)
"""Small: for tests, as many agents and arms, but 1,600 steps."""


def write(root: Path, size: Size = FULL, suffix: str = "feed01") -> str:
    """Make the run below `root`; its id."""
    run_id = f"20260131T120000Z-factorial-{suffix}"
    folder = root / run_id
    (folder / LOGS).mkdir(parents=True)
    steps, times = step_columns(run_id, size)
    samples = sample_columns(run_id, float(steps["t_end"].max()))
    with (folder / EVENTS).open("w", encoding="utf-8") as file:
        file.writelines(to_json(event) + "\n" for event in events(run_id, steps, times, samples))
    tables = {"steps": steps, "chunks": chunk_columns(steps, times), "telemetry": samples}
    for name, columns in tables.items():
        write_parquet(arrow(name, columns), folder / f"{name}.parquet")
    write_run_json(folder, info(run_id, size), Owner.this_process())
    return run_id


def info(run_id: str, size: Size) -> RunInfo:
    """What `run.json` says: a factorial that is done."""
    asked = {
        "profile": "cpu-smollm2", "recordings": [f"task-{n}" for n in range(size.tasks)], "arms": LABELS,
        "steps": size.turns, "repeats": 1, "seed": 1, "warm": False, "drift_check": False, "history": "recorded",
        "mode": "natural", "gaps": False, "spec_method": None, "strict": False, "keep": False, "job": None,
    }  # fmt: skip
    note = "made up by tests/huge_run.py: nothing here was measured"
    fingerprint: dict[str, Any] = {"profile": "cpu-smollm2", "engines": {}, "recordings": {}}
    about: dict[str, Any] = {"asked": asked, "fingerprint": fingerprint, "note": note}
    return RunInfo(id=run_id, experiment="factorial", created=CREATED, state="done", **about)


def arrow(table: str, columns: dict[str, np.ndarray]) -> pa.Table:
    """The columns as the store declares them; NaN is null."""
    schema = schema_of(table)
    made = [pa.array(columns[f.name], from_pandas=True) if f.name in columns else pa.nulls(len(columns["run"]))
            for f in schema]  # fmt: skip
    return pa.table(made, names=schema.names).cast(schema)


def events(run_id: str, steps: dict[str, np.ndarray], times: np.ndarray, samples: dict[str, np.ndarray]) -> list[dict]:
    """What the run would have appended, in order."""
    head = {"t": 0.0, "type": "run", "schema": SCHEMA, "id": run_id, "experiment": "factorial", "created": CREATED}
    last = float(steps["t_end"][-1])
    happened = [*passes(steps), *step_events(steps, times), *sample_events(samples), *progress(steps)]
    end = {"t": last + 1, "type": "finish", "state": "done", "note": info(run_id, FULL).note}
    return [head, *sorted(happened, key=lambda event: event["t"]), end]


def passes(steps: dict[str, np.ndarray]) -> Iterator[dict]:
    """Each arm is served, and each recording under it is one pass."""
    for block, arm in enumerate(LABELS):
        here = steps["arm"] == arm
        about = {"block": block, "arm": arm, "label": arm, "repeat": 0}
        began, ended = float(steps["t_send"][here].min()), float(steps["t_end"][here].max())
        yield {"t": began - 0.1, "type": "serving", **about, "engine": arm, "switched_by": "flag", "block_size": 32}
        for number, task in enumerate(sorted(set(steps["task"]))):
            one = {**about, "pass": number, "recording": task, "condition": "", "cache": "cold"}
            bad = int((steps["error"][here & (steps["task"] == task)] != None).sum())  # noqa: E711
            sent = int((here & (steps["task"] == task)).sum())
            yield {"t": began - 0.05, "type": "pass_start", **one}
            yield {"t": ended + 0.05, "type": "pass_done", **one, "measured": sent, "failed": bad}


def plain(value: Any) -> Any:
    """As JSON has it: whole floats of token columns are cast by the caller, NaN is null."""
    return None if isinstance(value, float) and np.isnan(value) else value


def step_events(steps: dict[str, np.ndarray], times: np.ndarray) -> Iterator[dict]:
    """One line a step, its chunks in it."""
    whole = {f.name for f in schema_of("steps") if pa.types.is_integer(f.type)}
    columns = {name: values.tolist() for name, values in steps.items()}
    for row, stream in enumerate(times.tolist()):
        step = {name: plain(values[row]) for name, values in columns.items()}
        step |= {name: int(step[name]) for name in whole & step.keys() if step[name] is not None}
        tokens = 1 if step["drafts"] is None else 3
        chunks = [{"index": i, "t": t, "kind": "content", "chars": 4, "tokens": tokens}
                  for i, t in enumerate(stream) if step["error"] is None]  # fmt: skip
        yield {"t": step["t_end"] + 0.001, "type": "step", "step": step, "chunks": chunks}


def sample_events(samples: dict[str, np.ndarray]) -> Iterator[dict]:
    """One line a second."""
    columns = {name: values.tolist() for name, values in samples.items() if name != "run"}
    width = len(METRICS)
    for first in range(0, len(samples["t"]), width):
        rows = [{name: values[n] for name, values in columns.items()} for n in range(first, first + width)]
        yield {"t": rows[0]["t"] + 0.002, "type": "samples", "samples": rows}


def progress(steps: dict[str, np.ndarray]) -> Iterator[dict]:
    """Said after every hundredth step."""
    total = len(steps["t_end"])
    for done in range(100, total + 1, 100):
        arm, t = steps["arm"][done - 1], float(steps["t_end"][done - 1])
        said = {"stage": f"measuring {arm}", "message": "", "done": done, "total": total, "eta_s": 1.0}
        yield {"t": t + 0.003, "type": "progress", **said}


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
