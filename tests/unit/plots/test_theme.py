"""Colours mean something on every figure, so they must be told apart by everyone, on both pages."""

from itertools import combinations

import numpy as np
import pytest

from labkit.core.arms import ARMS
from labkit.core.errors import UnknownName
from labkit.plots.theme import MODES, SURFACE, arm_color, arm_marker, arm_order, part_color, template

# Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def linear(color: str) -> np.ndarray:
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    lms = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.21190350, 0.68069955, 0.10739696],
        [0.08830246, 0.28171884, 0.62997870],
    ]
    lab = [
        [0.21045426, 0.79361779, -0.00407205],
        [1.97799850, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    return np.array(lab) @ np.cbrt(np.array(lms) @ np.clip(rgb, 0, 1))


def contrast(a: str, b: str) -> float:
    low, high = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (a, b))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sight", SIGHT)
def test_any_two_arms_are_told_apart(mode, sight):
    seen = {arm.label: oklab(SIGHT[sight] @ linear(arm_color(arm.label, mode))) for arm in ARMS}
    nearest = min((float(np.linalg.norm(seen[a] - seen[b])), a, b) for a, b in combinations(seen, 2))
    assert nearest[0] > 0.05, nearest


@pytest.mark.parametrize("mode", MODES)
def test_every_colour_stands_out_from_the_page(mode):
    colors = {arm.label: arm_color(arm.label, mode) for arm in ARMS}
    assert {
        label: contrast(color, SURFACE[mode]) for label, color in colors.items() if contrast(color, SURFACE[mode]) < 2.9
    } == {}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "parts",
    [
        ("cached", "computed", "unknown", "moved"),
        ("first", "rest"),
        ("client_lag", "server", "queue", "prefill", "transfer", "decode", "tool", "other"),
        ("cached", "computed", "unknown", "generated", "accepted"),
        ("cached", "new", "template_drift", "rounding", "routing", "eviction", "off"),
    ],
)
@pytest.mark.parametrize("sight", SIGHT)
def test_parts_of_a_stack_are_told_apart(mode, parts, sight):
    seen = [oklab(SIGHT[sight] @ linear(part_color(part, mode))) for part in parts]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 0.07


IN_LANES = (
    "client_lag", "server", "queue", "prefill", "transfer", "decode", "first", "rest", "tool", "other", "cached",
    "computed", "unknown",
)  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sight", SIGHT)
def test_an_arm_and_a_part_are_told_apart_where_both_are_drawn(mode, sight):
    arms = {arm.label: oklab(SIGHT[sight] @ linear(arm_color(arm.label, mode))) for arm in ARMS}
    parts = {part: oklab(SIGHT[sight] @ linear(part_color(part, mode))) for part in IN_LANES}
    nearest = min((float(np.linalg.norm(arms[a] - parts[p])), a, p) for a in arms for p in parts)
    assert nearest[0] > 0.05, nearest


def test_each_arm_has_its_own_marker():
    assert len({arm_marker(arm.label) for arm in ARMS}) == len(ARMS)


def test_arms_come_in_the_order_of_the_lab_and_once():
    assert arm_order(["all", "spec", "base", "spec"]) == ["base", "spec", "all"]


def test_an_unknown_arm_is_refused():
    with pytest.raises(UnknownName, match="prefix"):
        arm_color("prefx")


def test_the_page_of_a_figure_is_the_page_of_the_app():
    assert {mode: template(mode).layout.paper_bgcolor for mode in MODES} == SURFACE
