"""One self-contained `report.html` per run or comparison: it reads like a paper's results section and opens offline.

A section is a function from what was measured (`Material`) to blocks (plain data); the template alone knows HTML.
"""

from __future__ import annotations

from pathlib import Path

from labkit.experiments.report.contents import run_page
from labkit.experiments.report.material import Material
from labkit.experiments.report.page import write
from labkit.store.runs import Run

REPORT = "report.html"


def write_report(run: Run, out: Path | None = None) -> Path:
    """Write the run's report to `out`, by default into its folder; returns the file. Raises LabError."""
    return write(run_page(Material(run)), out or run.folder / REPORT)
