"""The figure of distributions: what it says, when its axis is logarithmic, and that a browser gets few points."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest
from builders import a_step, frame_of
from synthetic import chunks, frame, steps

from labkit.core.records import ChunkRecord, StepRecord
from labkit.plots.ecdf import beside, ecdf_figure, ecdf_info
from labkit.plots.log_axis import gain_ticks, in_reach, time_ticks
from labkit.plots.per_turn import beside as turns_beside
from labkit.plots.per_turn import per_turn_figure, per_turn_info
from labkit.plots.theme import MODES, arm_color, arm_dash, arm_marker


def took(*seconds, arm="base"):
    return [a_step(arm=arm, turn=n, t_send=0.0, t_first_token=s, t_end=s) for n, s in enumerate(seconds, 1)]


def test_each_arm_has_its_colour_dash_and_marker():
    info = ecdf_info(frame_of(took(1, 2) + took(1, 3, arm="spec")), "ttft")
    drawn = ecdf_figure(info)
    lines = [trace for trace in drawn.data if trace.mode == "lines"]
    assert [line.name for line in lines] == ["base", "spec"]
    assert [(line.line.color, line.line.dash) for line in lines] == [
        (arm_color(arm), arm_dash(arm)) for arm in ("base", "spec")
    ]
    marks = [trace for trace in drawn.data if trace.mode == "markers"]
    assert [(mark.x[0], mark.y[0], mark.marker.symbol) for mark in marks] == [
        (1.0, 0.5, arm_marker("base")),
        (1.0, 0.5, arm_marker("spec")),
    ]
    assert info.caption.note.startswith("n = 2 requests per arm.")
    assert "base: half within 1.00 s (n 2)" in info.caption.alt


def test_dashes_tell_the_arms_apart():
    from labkit.core.arms import ARMS

    assert len({arm_dash(arm.label) for arm in ARMS}) == len(ARMS)


def test_failed_requests_are_said_and_never_answered():
    broken = replace(took(5)[0], turn=9, error="HTTP 500")
    info = ecdf_info(frame_of([*took(1, 2, 3), broken]), "e2e")
    assert info.curves[0].of.shares[-1] == 0.75
    assert "1 request failed: sent, never answered." in info.caption.note


@pytest.mark.parametrize(("seconds", "log"), [((1, 2, 3), False), ((0.1, 1, 10), True)])
def test_the_axis_is_logarithmic_where_times_spread(seconds, log):
    info = ecdf_info(frame_of(took(*seconds)), "ttft")
    assert info.log is log
    assert ("Log scale" in info.caption.note) is log
    assert (ecdf_figure(info).layout.xaxis.type == "log") is log


def test_gaps_of_nothing_do_not_take_the_axis():
    info = ecdf_info(frame_of(took(0.0, *[0.5 + n / 100 for n in range(100)], 20.0)), "ttft")
    low, _ = ecdf_figure(info).layout.xaxis.range
    assert 10**low > 0.4
    assert "left of it" in info.caption.note


def test_a_browser_gets_few_points():
    many = [c for step in steps(turns=20, repeats=10) for c in chunks(step)]
    info = ecdf_info(frame_of(many), "itl")
    assert info.curves[0].of.n == 20 * 10 * 19
    assert max(len(trace.x) for trace in ecdf_figure(info).data) <= 200


def test_nothing_measured_is_a_sentence():
    for timed, like in (("ttft", StepRecord), ("itl", ChunkRecord)):
        info = ecdf_info(frame_of([], like), timed)
        assert info.caption.empty.endswith(".")
        for mode in MODES:
            assert not ecdf_figure(info, mode).data


def test_two_runs_are_told_apart_by_dash_and_size():
    a, b = (ecdf_info(frame_of(took(*seconds)), "e2e") for seconds in ((1, 2), (2, 3)))
    both = beside(a, b, "base")
    drawn = ecdf_figure(both)
    assert [(t.name, t.line.dash) for t in drawn.data if t.mode == "lines"] == [
        ("A: base", "solid"),
        ("B: base", "dash"),
    ]
    sizes = [trace.marker.size for trace in drawn.data if trace.mode == "markers"]
    assert sizes[0] > sizes[1]
    assert not beside(a, b, "spec").curves
    json.loads(drawn.to_json())


def test_turns_of_two_runs_are_two_lines():
    infos = [per_turn_info(frame(steps(("base", "prefix"), turns=n)), "e2e") for n in (2, 3)]
    both = turns_beside(*infos, "prefix")
    assert [(line.name, line.n) for line in both.lines] == [("A: prefix", 2), ("B: prefix", 3)]
    assert "2 in run A, 3 in run B" in both.caption.note
    assert [trace.line.dash for trace in per_turn_figure(both).data] == ["solid", "dash"]


@pytest.mark.parametrize("values", [[0.0003, 3503], [0.3, 4], [0.02, 20], [1e-5, 1e5], [0.77, 1.3]])
def test_ticks_of_gains_leave_room_for_each_others_words(values):
    ticks, words, (low, high) = gain_ticks(values)
    places = [(math.log10(tick) - low) / (high - low) for tick in ticks]
    assert min(b - a for a, b in pairwise(places)) >= 0.15
    assert "1" in words
    assert all(0 <= place <= 1 for place in places)


def test_an_interval_without_end_does_not_press_gains_into_one_spot():
    assert max(in_reach([1.2, 1.5], [0.0001, 1e9])) == 20
    assert max(in_reach([30.0], [1e9])) == 60


def test_ticks_of_times_are_round_and_few():
    assert time_ticks(0.05, 3) == pytest.approx([0.05, 0.1, 0.2, 0.5, 1, 2])
    assert time_ticks(0.0001, 20) == pytest.approx([0.0001, 0.001, 0.01, 0.1, 1, 10])
