"""Do the lab's intervals and p values hold? `make calibrate` (seeded, on one core, about five minutes).

Simulated experiments with planted and null effects go through the code that judges real runs
(labkit.analysis.inference); the shares land in docs/calibration.md, between its markers, and in two figures in
docs/images/. The figures need playwright and a Chromium; without one the numbers are still written, and it says so.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import times
from labkit.analysis.simulation import CHOSEN, calibration
from labkit.plots.calibration import calibration_figure, calibration_info

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "calibration.md"
START, END = "<!-- made by make calibrate: from here -->", "<!-- made by make calibrate: to here -->"
NULL = "nothing works"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
COLUMNS = {
    "coverage": "covered",
    "coverage_worst": "worst term",
    "false_positives": "false positives",
    "family_wise": "family-wise (Holm)",
    "power": "power",
    "power_holm": "power (Holm)",
    "wrong_sign": "wrong sign",
}
GAIN = "smallest_gain"


def markdown(table: pd.DataFrame, first: str) -> list[str]:
    """A table of shares in percent and gains; a dash where there is none."""
    names = [first, "tasks", *COLUMNS.values(), "smallest gain"]
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for row in table.to_dict("records"):
        shares = ("–" if pd.isna(row[name]) else f"{100 * row[name]:.1f} %" for name in COLUMNS)
        cells = [str(row[first]), str(row["tasks"]), *shares, times(row[GAIN])]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(table: pd.DataFrame) -> list[str]:
    """What goes between the markers."""
    chosen, null = table[table["method"] == CHOSEN], table[table["scenario"] == NULL]
    return [
        f"{table['experiments'].max():,} simulated experiments per row, two metrics each.",
        "",
        "**The lab's method in every world**",
        "",
        *markdown(chosen, "scenario"),
        "",
        f'**Every method in the world "{NULL}"**',
        "",
        *markdown(null, "method"),
        "",
        *findings(chosen),
    ]


def findings(chosen: pd.DataFrame) -> list[str]:
    """Where the aims (93 to 97 % covered, at most 5 % false positives) are missed by more than chance, in sentences."""
    slack = 2 * (0.05 * 0.95 / chosen["experiments"].max()) ** 0.5
    said = ["**Where it fails**", ""]
    for row in chosen.to_dict("records"):
        missed = []
        if row["coverage"] < 0.93:
            missed.append(f"covers {100 * row['coverage']:.1f} %")
        if not pd.isna(row["false_positives"]) and row["false_positives"] > 0.05 + slack:
            missed.append(f"claims {100 * row['false_positives']:.1f} % of nil effects")
        if missed:
            said.append(f"- {row['scenario']}, {row['tasks']} tasks: {' and '.join(missed)}.")
    return said if len(said) > 2 else [*said, "- In none of these worlds."]


def write(lines: list[str]) -> None:
    """Replace what is between the markers of the page."""
    before, _, rest = PAGE.read_text().partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text("\n".join([before + START, "", *lines, "", END + after]))


def draw(figures: dict[str, go.Figure]) -> list[str]:
    """PNGs of the figures; the names of the files that were written, none without a browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        return []
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser, args=FLAGS)
        for name, figure in figures.items():
            sheet = chromium.new_page(
                viewport={"width": 760, "height": int(figure.layout.height)}, device_scale_factor=2
            )
            sheet.set_content(figure.to_html(include_plotlyjs=True, config={"staticPlot": True, "responsive": True}))
            sheet.add_style_tag(content="body {margin: 0}")
            sheet.locator(".main-svg").first.wait_for()
            sheet.screenshot(path=ROOT / "docs" / "images" / name)
        chromium.close()
    return list(figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=1000, help="simulated experiments per world and size")
    given = parser.parse_args()
    began = time.monotonic()
    table = calibration(experiments=given.experiments)
    chosen = table[table["method"] == CHOSEN]
    write(page(table))
    print("\n".join([*markdown(chosen, "scenario"), "", *markdown(table[table["scenario"] == NULL], "method")]))
    infos = {
        "calibration-coverage.png": calibration_info(table, "coverage", method=CHOSEN),
        "calibration-false-positives.png": calibration_info(table, "false_positives", scenario=NULL),
    }
    drawn = draw({name: calibration_figure(info) for name, info in infos.items()})
    if not drawn:
        print("No figures: they need playwright and a Chromium.")
    print(json.dumps({"benchmark": "calibrate", "seconds": round(time.monotonic() - began, 1), "figures": drawn}))


if __name__ == "__main__":
    main()
