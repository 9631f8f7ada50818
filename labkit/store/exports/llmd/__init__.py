"""llm-d's Benchmark Report v0.2.1: one JSON document per cell of the run, for llm-d-benchmark and llm-d-prism.

The report has distributions, not requests. JSON is YAML, too, so tools that ask for YAML read the same file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labkit.core.progress import OnProgress, Progress
from labkit.core.records import RunInfo
from labkit.store.exports.files import known, write_json
from labkit.store.exports.llmd.observed import observability
from labkit.store.exports.llmd.performance import request_performance
from labkit.store.exports.llmd.scenario import load, stack
from labkit.store.exports.llmd.sessions import session_performance
from labkit.store.exports.requests import Cell, Request, by_cell, requests_of, stable_id
from labkit.store.exports.wall import Wall
from labkit.store.runs import Run

VERSION = "0.2.1"


def write_llmd(run: Run, out: Path, on_progress: OnProgress) -> list[Path]:
    """A report for every cell that measured anything; the files written. Warm-up is in none of them."""
    everyone, info = requests_of(run), run.info
    cells = {cell: kept for cell, mine in by_cell(everyone).items() if (kept := _measured(mine))}
    samples, wall, files = run.samples(), Wall(run.created), []
    for done, (cell, mine) in enumerate(cells.items()):
        on_progress(Progress(stage="llmd", message=cell.label, done=done, total=len(cells)))
        results = known({
            "request_performance": {"aggregate": request_performance(mine, everyone)},
            "session_performance": {"sessions": session_performance(mine)},
            "observability": observability(mine, samples, stack(info, cell)),
        })  # fmt: skip
        report = {"version": VERSION, "run": _run(info, cell, mine, wall), "results": results}
        scenario = known({"stack": stack(info, cell) or None, "load": load(info, cell, mine)})
        report["scenario"] = scenario
        files.append(write_json(out / f"benchmark_report_v0.2.1,{cell.label}.json", report))
    return files


def _measured(requests: Sequence[Request]) -> list[Request]:
    return [request for request in requests if not request.step.warmup]


def _run(info: RunInfo, cell: Cell, mine: Sequence[Request], wall: Wall) -> dict[str, Any]:
    """`uid` names the report, `eid` the run that its reports share."""
    start, end = min(r.step.t_send for r in mine), max(r.t_over for r in mine)
    return {
        "uid": stable_id(info.id, *cell),
        "eid": info.id,
        "time": {"start": wall.iso(start), "end": wall.iso(end), "duration": f"PT{end - start:.6f}S"},
        "description": f"labkit {info.experiment}: {cell.label}",
        "keywords": ["labkit", info.experiment, *cell.variation.split(",")],
    }
