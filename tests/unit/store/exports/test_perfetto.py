"""The swim lanes as a Chrome trace, read by a strict reader of the Trace Event Format."""

import json
from pathlib import Path

import pytest
from builders import a_step
from export_runs import held_back
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_reader import Trace, read_trace

from labkit.core.records import RunInfo, StepRecord
from labkit.store.exports import export
from labkit.store.exports.perfetto import _write
from labkit.store.exports.perfetto.lanes import lanes_of
from labkit.store.exports.perfetto.slices import slices_of
from labkit.store.exports.requests import Request
from labkit.store.exports.streams import Streams
from labkit.store.runs import Run, RunStore
from labkit.store.tables import schema_of

INFO = RunInfo(id="r", experiment="x", created="", state="done", asked={"gaps": True}, fingerprint={})


def trace(run: Run, out: Path) -> Trace:
    (path,) = export(run, "perfetto", out)
    return read_trace(path)


def test_a_track_for_each_agent_of_each_arm(run: Run, out: Path):
    found = trace(run, out)
    assert [(s.group, s.track, s.name) for s in found.slices if s.depth == 0] == [
        ("arm base", "agent a0", "1 act warm-up"), ("arm base", "agent a0", "tool ls"),
        ("arm base", "agent a0", "1 act"), ("arm base", "agent a0", "tool ls"),
        ("arm base", "agent a0", "2 act failed"), ("arm base", "agent a0", "3 answer"),
        ("arm spec", "agent a0", "1 act"), ("arm spec", "agent a0", "2 act"),
    ]  # fmt: skip
    assert found.about["run"] == run.id


def test_the_engines_phases_lie_in_the_step_and_meet_at_the_first_token(run: Run, out: Path):
    slices = [s for s in trace(run, out).slices if 10_000_000 <= s.start < 12_000_000]
    assert [(s.name, s.start, s.end, s.depth) for s in slices] == [
        ("1 act", 10_000_000, 11_700_000, 0), ("queue", 10_050_000, 10_100_000, 1),
        ("prefill", 10_100_000, 10_500_000, 1), ("decode", 10_500_000, 11_600_000, 1),
        ("tool ls", 11_700_000, 11_950_000, 0),
    ]  # fmt: skip
    assert [s.args.get("reported_s") for s in slices[1:4]] == [0.05, 0.4, 1.1]


def test_numbers_are_the_runs_and_nulls_are_absent(run: Run, out: Path):
    first, gone, answer = (s for s in trace(run, out).slices if s.args.get("turn") and s.args["recording"] == "tiny"
                           and s.group == "arm base")  # fmt: skip
    assert (first.args["ttft_s"], first.args["e2e_s"]) == (pytest.approx(0.5), pytest.approx(1.7))
    assert (first.args["prompt_tokens"], first.args["cached_tokens"], first.args["completion_tokens"]) == (600, 0, 10)
    assert (first.end - first.start) / 1e6 == pytest.approx(1.7)
    assert gone.args["error"] == "HTTP 500: no room"
    assert {"ttft_s", "e2e_s", "prompt_tokens", "cached_tokens"} & set(gone.args) == set()
    assert "drafts" not in answer.args


def test_telemetry_is_counters_with_holes(run: Run, out: Path):
    assert trace(run, out).counters == {
        ("base-0/engine", "vllm:kv_cache_usage_perc (1)"): [(10_100_000, 0.2), (13_000_000, 0.4)]
    }


def test_agents_whose_requests_overlap_get_tracks_of_their_own(store: RunStore, out: Path):
    with store.create("load", {}, {}) as writer:
        for agent, t in (("a", 0.0), ("a", 0.5), ("b", 0.6), ("a", 1.2)):
            writer.step(a_step(writer.id, agent=agent, t_send=t, t_end=t + 1, condition="agents=2"))
    slices = trace(store.open(writer.id), out).slices
    assert [(s.track, s.start) for s in slices] == [
        ("agent a, agents=2", 0), ("agent a, agents=2 (2)", 500_000), ("agent b, agents=2", 600_000),
        ("agent a, agents=2", 1_200_000),
    ]  # fmt: skip


def test_a_run_without_steps_is_a_trace_without_slices(store: RunStore, out: Path):
    with store.create("quick", {}, {}) as writer:
        pass
    assert trace(store.open(writer.id), out).slices == []


def test_the_reader_would_notice(run: Run, out: Path):
    (path,) = export(run, "perfetto", out)
    good = json.loads(path.read_text())
    for change in ({"dur": -1}, {"ts": 10.5}, {"dur": 10_000_000}, {"ph": "B"}):
        bad = json.loads(json.dumps(good))
        next(e for e in bad["traceEvents"] if e["name"] == "queue").update(change)
        path.write_text(json.dumps(bad))
        with pytest.raises(AssertionError):
            read_trace(path)


seconds = st.one_of(st.none(), st.floats(0, 5, allow_nan=False))


@st.composite
def any_step(draw: st.DrawFn) -> StepRecord:
    """Times in order, engine seconds as they come: more than the step took, or nothing."""
    t = draw(st.floats(0, 3))
    ends = sorted(draw(st.lists(st.floats(0, 3), min_size=3, max_size=3)))
    first, last, end = [t + d for d in ends] if draw(st.booleans()) else (None, None, draw(st.none()))
    phases = {f"{name}_s": draw(seconds) for name in ("queue", "prefill", "transfer", "decode", "tool")}
    return a_step(agent=draw(st.sampled_from("ab")), t_send=t, t_first_token=first, t_last=last, t_end=end, **phases)


@given(st.lists(any_step(), max_size=8))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_engine_reports_slices_nest(tmp_path: Path, steps: list[StepRecord]):
    empty = Streams(schema_of("chunks").empty_table())
    lanes = lanes_of([Request(step, empty.take(step)) for step in steps], INFO)
    _write(tmp_path / "t.json", [*lanes.names, *(e for p in lanes.placed for e in slices_of(p, INFO))], {})
    assert len(read_trace(tmp_path / "t.json").slices) >= len(steps)


def test_a_live_tool_is_not_called_slept(store: RunStore, out: Path):
    with store.create("agent", {}, {}) as writer:
        writer.step(*held_back(writer.id, recording=""))
    tool = trace(store.open(writer.id), out).slices[-1]
    assert (tool.name, tool.args) == ("tool ls", {"result_bytes": 12})
