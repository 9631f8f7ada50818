"""AIPerf's files: `profile_export.jsonl`, a record per request, and `profile_export_aiperf.json`, their summary.

Each cell of the run is one AIPerf benchmark, in a folder named after it, so that `aiperf plot` on the folders sets them
side by side. Shapes and definitions: AIPerf 0.13.0, summary schema 1.4.
"""

from __future__ import annotations

from pathlib import Path

from labkit.core.progress import OnProgress, Progress
from labkit.store.exports.aiperf.records import record_of, session_numbers
from labkit.store.exports.aiperf.summary import summary_of
from labkit.store.exports.files import write_json, write_lines
from labkit.store.exports.requests import by_cell, requests_of
from labkit.store.exports.wall import Wall
from labkit.store.runs import Run

RECORDS, SUMMARY = "profile_export.jsonl", "profile_export_aiperf.json"


def write_aiperf(run: Run, out: Path, on_progress: OnProgress) -> list[Path]:
    """Both files for every cell; the files written."""
    requests, info, wall = requests_of(run), run.info, Wall(run.created)
    cells, files = by_cell(requests), []
    for done, (cell, mine) in enumerate(cells.items()):
        on_progress(Progress(stage="aiperf", message=cell.label, done=done, total=len(cells)))
        numbers, folder = session_numbers(mine), out / cell.label
        records = (record_of(request, info.id, numbers, wall) for request in mine)
        files.append(write_lines(folder / RECORDS, records))
        files.append(write_json(folder / SUMMARY, summary_of(info, cell, mine, requests, wall)))
    return files
