"""The drawing of swim lanes: a trace a part, what can be pointed at, and what is marked."""

from __future__ import annotations

import pytest

from labkit.plots.frame import Caption
from labkit.plots.lane_records import Bins, Flight, Lane, LanesInfo, Span, StepBox, Stretch
from labkit.plots.lane_words import PARTS
from labkit.plots.lanes import lanes_figure
from labkit.plots.theme import MODES, arm_color, part_color

KEY = ("run-1", "prefix", "count", "tiny", "0", "0", "1", "", "cold")
WORDS = ("turn 1, act, prefix", "100 prompt tokens", "1.00 s in all")


def info(**changes) -> LanesInfo:
    box = StepBox(lane=0, start=1.0, end=3.0, key=KEY, words=WORDS, cached=0.75)
    known = {
        "caption": Caption(title="Who waits?", alt="words"),
        "lanes": (Lane(label="agent 0"), Lane(label="agent 1")),
        "spans": (Span(lane=0, part="prefill", start=1.0, end=1.5), Span(lane=0, part="decode", start=1.5, end=3.0)),
        "steps": (box,),
        "stretches": (Stretch(lane=0, arm="prefix", start=1.0, end=3.0),),
        "end": 4.0,
    }
    return LanesInfo(**{**known, **changes})


def traces(of: LanesInfo, mode="light") -> dict:
    return {trace.name: trace for trace in lanes_figure(of, mode).data if trace.name}


@pytest.mark.parametrize("mode", MODES)
def test_each_part_is_one_trace_in_its_colour(mode):
    drawn = traces(info(), mode)
    assert (drawn["prefill"].base, drawn["prefill"].x) == ((1.0,), (0.5,))
    assert drawn["prefill"].marker.color == part_color("prefill", mode)
    assert drawn["decode"].marker.color == part_color("decode", mode)
    assert drawn["prefix"].marker.color == arm_color("prefix", mode)


def test_the_strip_splits_the_prompt_by_its_tokens():
    drawn = traces(info())
    assert (drawn["strip: prompt from the cache"].base, drawn["strip: prompt from the cache"].x) == ((1.0,), (1.5,))
    assert (drawn["strip: computed"].base, drawn["strip: computed"].x) == ((2.5,), (0.5,))
    assert drawn["strip: computed"].showlegend is not False  # the note names its colour
    assert drawn["strip: computed"].opacity < 1  # as pale in the legend as in the strip
    unknown = StepBox(lane=0, start=1.0, end=3.0, key=KEY, words=WORDS)
    assert "strip: computed" not in traces(info(steps=(unknown,)))


def test_a_step_can_be_pointed_at_and_clicked():
    box = traces(info())["steps"]
    assert list(box.customdata[0]) == [*KEY, *WORDS]
    assert f"customdata[{len(KEY)}]" in box.hovertemplate


def test_what_is_under_way_is_hatched_and_what_failed_is_crossed():
    failed = StepBox(lane=1, start=1.0, end=1.0, key=KEY, words=WORDS, failed=True)
    drawn = traces(info(steps=(failed,), flights=(Flight(lane=1, start=3.0, end=4.0, words="turn 2"),)))
    assert drawn["under way"].marker.pattern.shape == "/"
    assert drawn["under way"].hovertext == ("turn 2",)
    assert drawn["failed"].marker.symbol == "x"


def test_an_agent_without_an_engine_has_a_colour_too():
    stretch = Stretch(lane=0, arm="none", start=1.0, end=3.0)
    assert traces(info(stretches=(stretch,)))["none"].marker.color == part_color("unknown")


def test_bins_are_one_heat_map_with_a_legend_of_what_is_in_it():
    parts = tuple(PARTS)
    cells = bytes([0, parts.index("prefill") + 1, parts.index("decode") + 1])
    drawn = lanes_figure(info(spans=(), steps=(), bins=Bins(start=0.0, width=1.0, parts=parts, cells=(cells, cells))))
    [heat] = [trace for trace in drawn.data if trace.type == "heatmap"]
    assert heat.z.shape == (2, 3)
    assert heat.x0 == 0.5
    assert {trace.name for trace in drawn.data if trace.type == "scatter" and trace.showlegend is None} >= {
        "prefill",
        "decode",
    }


def test_nothing_is_a_sentence():
    drawn = lanes_figure(LanesInfo(caption=Caption(title="Who waits?", empty="Nothing yet.")))
    assert not drawn.data
    assert drawn.layout.annotations[0].text == "Nothing yet."
