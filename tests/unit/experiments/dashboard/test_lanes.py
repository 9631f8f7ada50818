"""Swim lanes from run folders: whose lane, on which clock, what is under way, and how much is drawn."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from builders import a_step
from run_folders import started, write
from synthetic import failed, step

from labkit.experiments.dashboard.live.jump import step_address
from labkit.experiments.dashboard.live.lanes import MOST_LANES, MOST_SPANS, lanes
from labkit.experiments.dashboard.live.lanes_beside import side_by_side
from labkit.experiments.dashboard.opened import Opened
from labkit.plots.lanes import lanes_figure
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def made(steps, *, over: bool = True, events=(), **asked) -> Opened:
    """A run with these steps; `over`: it has ended."""
    writer = write(started(["base", "prefix"], **asked), steps)
    for kind, about in events:
        writer.event(kind, **about)
    if over:
        writer.finish("done", "")
    opened = Opened(RunStore().open(writer.id))
    _ = opened.live, opened.steps, opened.events
    if not over:
        writer.finish("cancelled", "")
    return opened


def two_laps() -> list:
    """Base from 5 s, two steps of 1 s; prefix from 20 s, two steps of 0.5 s; times told by the engine."""
    return [
        a_step(arm=arm, turn=turn, agent="0", t_send=t, t_first_token=t + took / 2, t_end=t + took, recording="tiny",
               prefill_s=took / 2, decode_s=took / 2, prompt_tokens=100, cached_tokens=cached, completion_tokens=10)
        for arm, turn, t, took, cached in (("base", 1, 5.0, 1.0, 0), ("base", 2, 6.0, 1.0, 0),
                                           ("prefix", 1, 20.0, 0.5, 0), ("prefix", 2, 20.5, 0.5, 80))
    ]  # fmt: skip


def test_on_the_runs_clock_an_agent_has_one_lane_and_arms_are_marked():
    info = lanes(made(two_laps()), "run")
    assert [lane.label for lane in info.lanes] == ["agent 0"]
    assert [(each.arm, each.start, each.end, each.shown) for each in info.stretches] == [
        ("base", 0.0, 2.0, True),
        ("prefix", 15.0, 16.0, True),
    ]
    assert [(span.part, span.start, span.end) for span in info.spans[:2]] == [
        ("prefill", 0.0, 0.5),
        ("decode", 0.5, 1.0),
    ]
    assert info.start == 0.0
    assert info.end == pytest.approx(16.0 * 1.01)


def test_on_the_arms_clocks_every_arm_begins_at_0_without_its_pauses():
    again = [a_step(arm="base", repeat=1, turn=1, agent="0", t_send=50.0, t_end=51.0, recording="tiny")]
    info = lanes(made([*two_laps(), *again]), "arm")
    assert [lane.label for lane in info.lanes] == ["base, agent 0", "prefix, agent 0"]
    assert [(step.lane, step.start, step.end) for step in info.steps] == [
        (0, 0.0, 1.0), (0, 1.0, 2.0), (1, 0.0, 0.5), (1, 0.5, 1.0), (0, 2.0, 3.0),
    ]  # fmt: skip


def test_passes_at_the_same_time_keep_their_distance():
    agents = [a_step(agent=str(n), t_send=10.0 + n, t_end=12.0 + n, task=f"t{n}") for n in range(2)]
    assert [step.start for step in lanes(made(agents), "arm").steps] == [0.0, 1.0]


def test_a_step_says_what_it_was_and_where_its_prompt_came_from():
    box = lanes(made(two_laps()), "run").steps[-1]
    assert box.cached == pytest.approx(0.8)
    assert box.words == (
        "turn 2, act, prefix",
        "100 prompt tokens, 80 from the cache; 10 generated",
        "250 ms to the first token, 500 ms in all (prefill 250 ms, decode 250 ms)",
    )
    assert box.key[1:] == ("prefix", "count", "tiny", "0", "0", "2", "", "cold")


def test_failed_steps_are_there_and_warm_up_is_not():
    info = lanes(made([failed("base", 1), step("base", 2, t=1.0, warmup=True), step("base", 3, t=5.0)]), "run")
    assert (info.steps[0].failed, info.steps[0].words[2]) == (True, "failed: HTTP 500")
    assert len(info.steps) == 2


SENT = {"agent": "0", "kind": "act", "recording": "tiny", "task": "count", "repeat": 0, "condition": ""}


def test_what_is_under_way_is_drawn_up_to_the_newest_event():
    sent = [
        ("sent", {**SENT, "turn": 1, "arm": "base"}),
        ("sent", {**SENT, "turn": 3, "arm": "prefix"}),
        ("progress", {"stage": "measuring prefix", "message": ""}),
    ]
    info = lanes(made(two_laps()[:2], over=False, events=sent[1:]), "run")
    assert len(info.flights) == 1
    assert info.flights[0].words.startswith("turn 3, act, under prefix: under way for")


def test_a_step_that_came_back_is_not_under_way_and_an_ended_run_has_none():
    writer = started(["base"])
    writer.event("sent", **{**SENT, "turn": 1, "arm": "base", "agent": "a1", "task": "t1", "recording": ""})
    assert len(lanes(Opened(RunStore().open(writer.id)), "run").flights) == 1
    write(writer, [step("base", 1)])
    assert lanes(Opened(RunStore().open(writer.id)), "run").flights == ()
    writer.event("sent", **{**SENT, "turn": 2, "arm": "base"})
    writer.finish("cancelled", "stopped")
    assert lanes(Opened(RunStore().open(writer.id)), "run").flights == ()


def test_a_window_leaves_out_what_is_not_in_it():
    info = lanes(made(two_laps()), "run", (14.0, 16.0))
    assert {box.words[0] for box in info.steps} == {"turn 1, act, prefix", "turn 2, act, prefix"}
    assert [each.arm for each in info.stretches] == ["prefix"]


def test_nothing_yet_is_a_sentence():
    info = lanes(made([]), "run")
    assert "No step has been sent yet" in info.caption.empty
    assert not lanes_figure(info).data


def test_very_many_spans_become_bins_of_what_took_most():
    """One agent, a second of prefill and three of decode in turns, with a pause after every tenth."""
    many = []
    for n in range(MOST_SPANS // 2 + 10):
        t = 4.0 * n + 40.0 * (n // 10)
        many.append(
            a_step(turn=n + 1, agent="0", t_send=t, t_first_token=t + 1, t_end=t + 4, prefill_s=1.0, decode_s=3.0)
        )
    info = lanes(made(many), "run")
    assert info.bins is not None
    assert info.spans == ()
    cells = info.bins.of(0)
    assert set(cells) <= {"decode", "prefill", ""}
    assert 0.4 < cells.count("decode") / len(cells) < 0.9  # at an edge of a bin a prefill may stand alone
    assert cells.count("prefill") < 0.1 * len(cells)
    assert "Too many steps to draw each" in info.caption.note
    close = lanes(made(many), "run", (0.0, 40.0))
    assert close.bins is None
    assert [span.part for span in close.spans[:4]] == ["prefill", "decode"] * 2


def test_a_hundred_agents_are_binned_and_stay_small():
    crowd = [
        step("prefix", turn, agent=str(agent), t=10.0 * turn + agent / 10)
        for agent in range(100) for turn in range(1, 21)
    ]  # fmt: skip
    info = lanes(made(crowd), "run")
    assert len(info.lanes) == 100 > MOST_LANES
    assert info.lanes[10].label == "agent 10"  # by number, not by letter
    assert len(lanes_figure(info).to_json()) < 120_000
    assert len(pickle.dumps(info)) < 120_000


def test_a_hundred_agents_under_two_arms_are_a_lane_an_arm():
    crowd = [step(arm, 1, agent=str(agent), t=at + agent / 10)
             for arm, at in (("base", 0.0), ("prefix", 90.0)) for agent in range(100)]  # fmt: skip
    info = lanes(made(crowd), "arm")
    assert [lane.label for lane in info.lanes] == ["base, all agents", "prefix, all agents"]
    assert info.bins is not None
    assert {"first", "rest"} <= set(info.bins.of(0))


def test_as_many_spans_as_are_drawn_are_small_enough_to_send_every_second():
    steps = [
        a_step(turn=n + 1, agent=str(n % 4), arm="prefix", t_send=float(n), t_first_token=n + 0.4, t_end=n + 0.9,
               prefill_s=0.3, decode_s=0.5, queue_s=0.05, prompt_tokens=4000, cached_tokens=3000, completion_tokens=60)
        for n in range(MOST_SPANS // 4)
    ]  # fmt: skip
    info = lanes(made(steps), "run")
    assert len(info.spans) >= MOST_SPANS / 2
    assert len(lanes_figure(info).to_json()) < 300_000


def test_two_runs_lie_one_below_the_other_each_from_0():
    first, second = lanes(made(two_laps()[:2]), "arm"), lanes(made(two_laps()[2:]), "arm")
    both = side_by_side(first, second, ("1a", "2b"))
    assert [lane.label for lane in both.lanes] == ["base, agent 0 (1a)", "prefix, agent 0 (2b)"]
    assert [(box.lane, box.start) for box in both.steps] == [(0, 0.0), (0, 1.0), (1, 0.0), (1, 0.5)]
    assert both.end == max(first.end, second.end)
    assert "base: 2 steps in 2.00 s" in both.caption.alt
    assert "prefix: 2 steps in 1.00 s" in both.caption.alt
    assert side_by_side(lanes(made([]), "arm"), second, ("1a", "2b")) is second


def test_a_click_on_a_warm_step_does_not_lead_to_the_cold_one():
    passes = [replace(row, cache=cache, t_send=row.t_send + later, t_first_token=None, t_end=row.t_end + later)
              for cache, later in (("cold", 0.0), ("warm", 20.0)) for row in two_laps()]  # fmt: skip
    boxes = [box for box in lanes(made(passes), "run").steps if box.words[0].startswith("turn 1, ")]
    addresses = [step_address([{"customdata": [*box.key, *box.words]}]) for box in boxes]
    assert [(each["arm"], each["turn"], each["cache"]) for each in addresses if each] == [
        ("base", "1", "cold"), ("prefix", "1", "cold"), ("base", "1", "warm"), ("prefix", "1", "warm"),
    ]  # fmt: skip


def long(times: int = 1) -> list:
    """A second of prefill and a second of decode, again and again: too many to draw each."""
    count = times * (MOST_SPANS // 2 + 10)
    return [
        a_step(arm="prefix", turn=n + 1, agent="0", t_send=2.0 * n, t_first_token=2.0 * n + 1, t_end=2.0 * n + 2,
               prefill_s=1.0, decode_s=1.0)
        for n in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("clock", ["arm", "run"])
def test_a_run_of_cells_beside_another_is_on_one_grid_with_it_and_each_keeps_its_lane(turned, clock):
    """Base takes 2 s in all; the other, with too many steps to draw, 1520 s: each lane holds its own run's parts."""
    few, many = lanes(made(two_laps()[:2]), clock), lanes(made(long()), clock)
    assert (few.bins, many.bins is None) == (None, False)
    both = side_by_side(many, few, ("m", "f")) if turned else side_by_side(few, many, ("f", "m"))
    assert both.bins is not None
    assert (len(both.bins.cells), len(both.lanes)) == (2, 2)
    busy = {lane.label[-2]: sum(map(bool, both.bins.of(place))) for place, lane in enumerate(both.lanes)}
    assert busy["m"] > 290
    assert busy["f"] == 1  # 2 s of 1520 s in cells of 5 s
    assert (both.spans, both.steps, both.stretches) == ((), (), ())
    assert both.bins.width == pytest.approx(both.end / 300)
    assert "a cell of 5.12 s shows what took most of it" in both.caption.note
    assert lanes_figure(both).data


def test_two_runs_of_cells_of_other_widths_are_drawn_on_one():
    half, whole = lanes(made(long()), "arm"), lanes(made(long(2)), "arm")
    both = side_by_side(half, whole, ("h", "w"))
    assert both.bins is not None
    shown = [sum(map(bool, both.bins.of(lane))) for lane in (0, 1)]
    assert shown[0] == pytest.approx(shown[1] / 2, abs=4)


def test_steps_after_a_toggle_are_seen_on_both_clocks():
    toggled = a_step(arm="spec", turn=3, agent="0", t_send=21.0, t_end=22.0, recording="tiny",
                     condition="toggled from prefix")  # fmt: skip
    for clock in ("run", "arm"):
        assert any(box.key[1] == "spec" for box in lanes(made([*two_laps(), toggled]), clock).steps)


def test_steps_that_all_failed_at_once_are_a_sentence_and_no_axis():
    info = lanes(made([failed("base", 1), failed("base", 2)]), "run")
    assert info.caption.empty == "2 steps failed at once: there is no length of time to draw."
    assert not info.lanes
    timed_out = failed("base", 1).__class__.from_dict({**failed("base", 1).to_dict(), "t_end": 60.0})
    assert lanes(made([timed_out]), "run").lanes


def test_the_line_of_the_arms_above_cells_is_inside_the_figure():
    drawn = lanes_figure(lanes(made(long()), "run"))
    (line,) = [trace for trace in drawn.data if trace.name == "prefix"]
    low, high = drawn.layout.yaxis.range
    assert min(low, high) < line.y[0] < max(low, high)


def test_what_the_marks_mean_is_left_to_the_page():
    """Beside the lanes it has all of their width; in the figure it would be broken for half of it."""
    info = lanes(made(two_laps()), "run")
    assert info.caption.note
    assert "strip below" not in lanes_figure(info).layout.title.text
