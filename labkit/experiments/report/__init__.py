"""One self-contained `report.html` per run or comparison: it reads like a paper's results section and opens offline.

A section is a function from what was measured (`Material`) to blocks (plain data); the template alone knows HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labkit.core.prices import Price
from labkit.experiments.comparison import RunComparison, compare_runs
from labkit.experiments.report.compared import comparison_page
from labkit.experiments.report.contents import run_page
from labkit.experiments.report.material import Material
from labkit.experiments.report.page import write
from labkit.store.runs import Run

REPORT = "report.html"


def write_report(run: Run, out: Path | None = None, prices: Mapping[str, Price] | None = None) -> Path:
    """Write the run's report to `out`, by default into its folder; returns the file. Raises LabError.

    `prices`: add what the run cost at each of these.
    """
    return write(run_page(Material(run, prices)), out or run.folder / REPORT)


def write_comparison(a: Run, b: Run, out: Path) -> Path:
    """Write the comparison of run B with run A to `out`; returns the file. Raises LabError."""
    return write_comparison_of(compare_runs(a, b), out)


def write_comparison_of(found: RunComparison, out: Path) -> Path:
    """Write a comparison that was made already to `out`; returns the file. Raises LabError."""
    return write(comparison_page(found), out)
