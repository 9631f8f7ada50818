"""Notebooks as tests run them: from their text to the last cell, with the parameters of a test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jupytext
import papermill
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[1] / "notebooks"
STEMS = sorted(path.stem for path in FOLDER.glob("*.py"))
PLOTLY, PNG, MARKDOWN = "application/vnd.plotly.v1+json", "image/png", "text/markdown"


def execute(stem: str, folder: Path, **parameters: Any) -> NotebookNode:
    """The executed notebook. Raises PapermillExecutionError with the cell's own error."""
    source, out = folder / f"{stem}-in.ipynb", folder / f"{stem}-out.ipynb"
    jupytext.write(jupytext.read(FOLDER / f"{stem}.py"), source)
    return papermill.execute_notebook(
        source, out, parameters=parameters, kernel_name="python3", language="python", progress_bar=False, cwd=folder
    )


def outputs(notebook: NotebookNode) -> Sequence[NotebookNode]:
    """Every output of every code cell, in order."""
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def shown(notebook: NotebookNode, mime: str) -> list[Any]:
    """What the cells display of this MIME type, in order: figures (PLOTLY), sentences (MARKDOWN), tables."""
    return [output.data[mime] for output in outputs(notebook) if mime in output.get("data", {})]


def figures(notebook: NotebookNode) -> list[dict[str, Any]]:
    return shown(notebook, PLOTLY)


def printed(notebook: NotebookNode) -> str:
    """All that the cells print, in order."""
    return "".join(output.text for output in outputs(notebook) if output.output_type == "stream")
