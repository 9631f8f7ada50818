"""The page and its figures are drawn on the same colours, and pages hold no logic."""

import ast
import tomllib
from pathlib import Path

import pytest

from labkit.core.arms import ARMS
from labkit.plots.theme import GRID, MODES, MUTED, SURFACE, TEXT, arm_color

APP = Path(__file__).parents[2] / "app"
CONFIG = tomllib.loads((APP / ".streamlit" / "config.toml").read_text())
MODULES = sorted(path for path in APP.rglob("*.py"))


@pytest.mark.parametrize("mode", MODES)
def test_page_and_figures_share_their_colours(mode):
    look = CONFIG["theme"][mode]
    assert (look["backgroundColor"], look["textColor"]) == (SURFACE[mode], TEXT[mode])
    assert (look["dataframeBorderColor"], look["dataframeHeaderTextColor"]) == (GRID[mode], MUTED[mode])
    assert look["chartCategoricalColors"] == [arm_color(arm.label, mode) for arm in ARMS]


def test_the_app_listens_on_this_machine_only_and_reports_to_nobody():
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert CONFIG["browser"]["gatherUsageStats"] is False


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_functions_of_the_app_are_short(module):
    tree = ast.parse(module.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert {f.name: n for f in functions if (n := f.end_lineno - f.lineno + 1) > 20} == {}
