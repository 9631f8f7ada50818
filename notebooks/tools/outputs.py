"""Write the .ipynb of every notebook, or of those named: its text, with the outputs of its stored runs.

    python notebooks/tools/outputs.py [02_prefix_caching ...]        (make notebooks)

Nothing is measured. A figure is kept twice: as Plotly, which JupyterLab draws, and as a picture for code hosts, which
strip scripts. Pictures are drawn by the system's Chromium; LABKIT_CHROMIUM names another.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jupytext
import papermill
import plotly.io
from nbformat import NotebookNode
from playwright.sync_api import Page, sync_playwright
from plotly.offline import get_plotlyjs

FOLDER = Path(__file__).parents[1]
PLOTLY = "application/vnd.plotly.v1+json"
WIDTH, HEIGHT = 940, 450
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def main(stems: list[str]) -> None:
    texts = [FOLDER / f"{stem}.py" for stem in stems] or sorted(FOLDER.glob("*.py"))
    with browser_page() as page:
        for text in texts:
            print(f"{text.stem} ...", flush=True)
            write(text, page)


def write(text: Path, page: Page) -> None:
    """`text` executed with ENGINE="stored", as the .ipynb beside it."""
    notebook = jupytext.read(text)
    done = executed(notebook, text.stem)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    code = [pair for pair in zip(notebook.cells, done.cells, strict=True) if pair[0].cell_type == "code"]
    for count, (cell, ran) in enumerate(code, 1):
        cell.execution_count = count
        cell.outputs = [with_picture(output, page) for output in joined(ran.outputs)]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    jupytext.write(notebook, text.with_suffix(".ipynb"))


def executed(notebook: NotebookNode, stem: str) -> NotebookNode:
    """What papermill makes of it, without the cell that it puts in. Raises PapermillExecutionError."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / f"{stem}.ipynb", Path(folder) / "out.ipynb"
        jupytext.write(notebook, source)
        os.environ.update({"LABKIT_RUNS": f"{folder}/runs", "LABKIT_STATE": f"{folder}/state"})
        done = papermill.execute_notebook(
            source, out, parameters={"ENGINE": "stored"}, kernel_name="python3", language="python",
            progress_bar=False, cwd=folder,
        )  # fmt: skip
    done.cells = [cell for cell in done.cells if "injected-parameters" not in cell.metadata.get("tags", [])]
    return done


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """What was printed in a row as one: a kernel hands it on in pieces that are others each time."""
    kept: list[NotebookNode] = []
    for output in outputs:
        last = kept[-1] if kept else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            kept.append(output)
    return kept


def with_picture(output: NotebookNode, page: Page) -> NotebookNode:
    data = output.get("data", {})
    if PLOTLY in data:
        data["image/png"] = picture(page, plotly.io.to_json(data[PLOTLY], validate=False))
        data.pop("text/html", None)  # a script of its own, which code hosts strip and JupyterLab does not need
    return output


def picture(page: Page, figure: str) -> str:
    """The figure as a PNG, base64."""
    drawn: str = page.evaluate(
        "([text, width, height]) => { const f = JSON.parse(text); return Plotly.toImage("
        "{data: f.data, layout: {...f.layout, width: width, height: f.layout.height || height}},"
        "{format: 'png', width: width, height: f.layout.height || height}); }",
        [figure, WIDTH, HEIGHT],
    )
    return base64.b64encode(base64.b64decode(drawn.split(",", 1)[1])).decode()


@contextmanager
def browser_page() -> Iterator[Page]:
    """A page with Plotly on it. Raises FileNotFoundError, with what to install."""
    path = os.environ.get("LABKIT_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        raise FileNotFoundError("No Chromium is installed. As root: apt-get install chromium. Or set LABKIT_CHROMIUM")
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = running.new_page()
        page.add_script_tag(content=get_plotlyjs())
        yield page
        running.close()


if __name__ == "__main__":
    main(sys.argv[1:])
