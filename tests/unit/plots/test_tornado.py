"""What moves a number most: the widest swing on top, measured ends apart from assumed ones."""

import pandas as pd
import pytest

from labkit.plots.theme import MODES, TEXT, part_color
from labkit.plots.tornado import tornado_figure, tornado_info

TABLE = pd.DataFrame(
    [
        {"name": "the layers", "ends": "prefix or base", "low": 1.0, "high": 2.0, "measured": True},
        {
            "name": "hours that are paid and not used",
            "ends": "100 % to 10 %",
            "low": 0.5,
            "high": 5.0,
            "measured": False,
        },
    ]
)


@pytest.fixture
def info():
    return tornado_info(TABLE, "cost of a task run", "$0.001", "12 task runs")


def test_the_widest_swing_is_on_top(info):
    assert [one.name for one in info.swings] == ["hours that are paid and not used", "the layers"]
    assert info.caption.title == "What moves the cost of a task run most?"
    assert "now $0.001; n = 12 task runs" in info.caption.note
    assert "the layers 1.00x to 2.00x: prefix or base" in info.caption.alt


@pytest.mark.parametrize("mode", MODES)
def test_bars_span_both_ends_and_assumed_ones_look_otherwise(info, mode):
    figure = tornado_figure(info, mode)
    bars = {bar.name: bar for bar in figure.data}
    assert {name: (bar.base, bar.x) for name, bar in bars.items()} == {
        "measured ends": ((1.0,), (1.0,)),
        "assumed ends": ((0.5,), (4.5,)),
    }
    assert bars["measured ends"].marker.color == TEXT[mode]
    assert bars["assumed ends"].marker.color == part_color("unknown", mode)
    assert figure.layout.xaxis.type == "log"
    assert [note.text for note in figure.layout.annotations] == ["10.0x", "2.00x"]
    assert list(figure.layout.yaxis.categoryarray) == ["hours that are paid<br>and not used", "the layers"]


def test_nothing_varied_is_a_sentence():
    figure = tornado_figure(tornado_info(TABLE.iloc[:0], "cost", "–", "0 task runs"))
    assert not figure.data
    assert "Nothing was varied" in figure.layout.annotations[0].text
