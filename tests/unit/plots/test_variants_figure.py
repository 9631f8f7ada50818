"""The figures of the pitfalls: lines by variant, the room beside a drafter; the numbers, and that they are drawn."""

from __future__ import annotations

import pandas as pd
import pytest
from synthetic import frame, step, steps

from labkit.plots.kv_room import kv_room_figure, kv_room_info
from labkit.plots.theme import MODES, arm_color
from labkit.plots.variants import tokens_info, ttft_info, variants_figure

ROOMS = pd.DataFrame(
    {
        "drafter": ["none", "draft_model", "other"],
        "arm": ["prefix", "prefix+spec", "prefix+spec"],
        "tokens": pd.array([34_912, 17_440, None], dtype="Int64"),
        "expected_tokens": pd.array([34_912, None, None], dtype="Int64"),
        "share": [1.0, 0.4995, None],
        "n": [40, 30, 0],
    }
)


@pytest.mark.parametrize("mode", MODES)
def test_variants_share_the_arms_colour_and_base_has_its_own(mode):
    clean = frame([*steps(("base", "prefix"), turns=2), step("prefix", 2, repeat=1, cached_tokens=0)])
    info = ttft_info({"clean": clean, "broken": frame(steps(("prefix",), turns=2))})
    assert [line.name for line in info.lines] == ["clean", "broken", "clean, base"]
    assert info.lines[0].turns == (1, 2)
    assert info.lines[0].values == pytest.approx((0.6, 0.2))
    assert info.lines[2].values == pytest.approx((0.6, 0.8))
    assert [line.n for line in info.lines] == [3, 2, 2]
    assert "n = 2 to 3 steps per line" in info.caption.note
    clean_line, broken_line, base_line = variants_figure(info, mode).data
    assert clean_line.line.color == broken_line.line.color == arm_color("prefix", mode)
    assert clean_line.line.dash != broken_line.line.dash
    assert clean_line.marker.symbol != broken_line.marker.symbol
    assert base_line.line.color == arm_color("base", mode)


def test_without_base_there_is_no_base_line():
    info = ttft_info({"clean": frame(steps(("prefix",), turns=2))})
    assert [line.name for line in info.lines] == ["clean"]
    assert "clean: 0.60 to 0.20" in info.caption.alt


def test_without_a_step_there_is_a_sentence():
    for info in (ttft_info({}), tokens_info("What is there to compute?", {})):
        assert info.caption.empty
        assert not variants_figure(info).data


def test_tokens_are_counted_and_the_figure_says_so():
    values = {"forgets": pd.Series([700, 90], index=[1, 2]), "keeps": pd.Series([700, 40], index=[1, 2])}
    info = tokens_info("What is there to compute?", values)
    assert info.lines[0].values == (700, 90)
    assert info.caption.note == "Counted, not timed; n = 2 steps per line."
    figure = variants_figure(info)
    assert figure.layout.yaxis.title.text == "prompt tokens to compute"
    assert list(figure.data[1].y) == [700, 40]


@pytest.mark.parametrize("mode", MODES)
def test_room_is_a_bar_where_it_was_measured_and_hollow_where_it_is_arithmetic(mode):
    info = kv_room_info(ROOMS)
    assert [(bar.drafter, bar.tokens, bar.expected) for bar in info.bars] == [
        ("none", 34_912, 34_912),
        ("draft_model", 17_440, None),
    ]
    assert "draft_model: 17,440 tokens (50 %)" in info.caption.alt
    assert "n = 40, 30 readings" in info.caption.note
    bars, marks = kv_room_figure(info, mode).data
    assert list(bars.marker.color) == [arm_color("prefix", mode), arm_color("prefix+spec", mode)]
    assert list(bars.text) == ["100 %", "50 %"]
    assert marks.marker.symbol == "circle-open"
    assert list(marks.x) == ["none"]


def test_room_that_nobody_told_is_a_sentence():
    info = kv_room_info(ROOMS.iloc[2:])
    assert "has told" in info.caption.empty
    assert not kv_room_figure(info).data
