"""Steps find their own chunks, and only what belongs together is in one cell."""

from dataclasses import replace

import pytest
from builders import a_step, chunks_at

from labkit.core.masking import MASK
from labkit.core.records import RunInfo
from labkit.store.exports.engine_facts import engine_name, flags, processes_of
from labkit.store.exports.requests import Request, by_cell, by_session, requests_of, stable_id, undisturbed
from labkit.store.exports.wall import Wall
from labkit.store.runs import Run, RunStore


def test_a_step_sent_twice_gets_its_own_chunks_each_time(store: RunStore):
    with store.create("quick", {}, {}) as writer:
        step = a_step(writer.id)
        writer.step(step, chunks_at(step, 1.1, 1.2))
        writer.step(replace(step, turn=2), [])
        writer.step(step, chunks_at(step, 5.1))
    times = [request.stream.t.tolist() for request in requests_of(store.open(writer.id))]
    assert times == [[1.1, 1.2], [], [5.1]]


def test_a_run_without_chunks_and_one_without_steps_are_read(store: RunStore):
    with store.create("quick", {}, {}) as writer:
        pass
    assert requests_of(store.open(writer.id)) == []


def test_warm_up_goes_with_its_arm_and_repeat(run: Run):
    cells = by_cell(requests_of(run))
    assert [cell.label for cell in cells] == ["base,cold,repeat=0", "spec,cold,repeat=0"]
    assert [[r.step.warmup for r in mine] for mine in cells.values()] == [[True, False, False, False], [False, False]]


def test_conditions_cache_states_and_repeats_are_not_mixed():
    def request(**values: object) -> Request:
        return Request(a_step(**values), None)  # type: ignore[arg-type]

    cells = by_cell([
        request(condition="agents=4"), request(condition="agents=8"), request(cache="warm"), request(repeat=1),
        request(arm="prefix+pd", condition="method=a/b"), request(mode="pinned", history="live"),
    ])  # fmt: skip
    assert [cell.label for cell in cells] == [
        "base,agents=4,cold,repeat=0", "base,agents=8,cold,repeat=0", "base,warm,repeat=0", "base,cold,repeat=1",
        "prefix+pd,method=a_b,cold,repeat=0", "base,pinned,live,cold,repeat=0",
    ]  # fmt: skip


def sent(t_send: float, **values: object) -> Request:
    """A request of one second."""
    return Request(a_step(t_send=t_send, t_end=t_send + 1, **values), None)  # type: ignore[arg-type]


def test_the_ramp_and_the_drain_of_a_load_are_its_own():
    block = sent(0.0, warmup=True)
    one = [sent(2.0, condition="agents=1", warmup=True), sent(4.0, condition="agents=1")]
    four = [sent(6.0, condition="agents=4", warmup=True), sent(8.0, condition="agents=4")]
    died = [sent(10.0, condition="agents=8", warmup=True)]
    cells = by_cell([block, *one, *four, *died])
    assert {cell.condition: mine for cell, mine in cells.items()} == {
        "agents=1": [block, *one], "agents=4": four, "agents=8": died,
    }  # fmt: skip


def test_a_load_is_not_disturbed_by_itself():
    mine = [sent(1.0, condition="agents=4"), sent(3.0, condition="agents=4", agent="a1")]
    own = [sent(t, condition="agents=4", agent="a2", warmup=True) for t in (0.5, 3.5)]
    assert undisturbed(mine, [*own, *mine])
    assert not undisturbed(mine, [*own, *mine, sent(2.0, condition="agents=2", warmup=True)])


def test_a_duration_belongs_to_a_cell_only_when_nothing_else_ran_in_between():
    def request(arm: str, t_send: float) -> Request:
        return Request(a_step(arm=arm, t_send=t_send, t_end=t_send + 1), None)  # type: ignore[arg-type]

    base, spec = [request("base", 0.0), request("base", 10.0)], [request("spec", 5.0), request("spec", 6.0)]
    everyone = [*base, *spec]
    assert undisturbed(spec, everyone)
    assert not undisturbed(base, everyone)
    assert undisturbed(base[:1], everyone)


def test_sessions_are_in_the_order_of_sending(run: Run):
    assert [[r.step.turn for r in requests] for requests in by_session(requests_of(run)).values()] == [
        [1], [1, 2, 3], [1, 2],
    ]  # fmt: skip


def test_wall_time_is_exact_to_the_nanosecond():
    wall = Wall("2027-01-15T08:00:00.123456+00:00")
    assert wall.ns(0.0) == 1_800_000_000_123_456_000
    assert wall.ns(12.000_000_789) == 1_800_000_012_123_456_789
    assert wall.iso(1.5) == "2027-01-15T08:00:01.623456+00:00"
    assert Wall("2027-01-15T10:00:00+02:00").ns(0.0) == 1_800_000_000_000_000_000


def test_ids_follow_from_their_words_alone():
    assert stable_id("a", 1) == stable_id("a", 1)
    assert stable_id("a", "b") != stable_id("ab", "")
    assert len(stable_id("a", digits=16)) == 16


def info(*engines: list[dict[str, object]]) -> RunInfo:
    known = {str(n): {"processes": processes} for n, processes in enumerate(engines)}
    return RunInfo(id="r", experiment="x", created="", state="done", asked={}, fingerprint={"engines": known})


ENGINE = {"role": "engine", "argv": ["vllm"]}
NO_CACHE = {"role": "engine", "argv": ["vllm", "--no-enable-prefix-caching"]}
SPEC = {"role": "engine", "argv": ["vllm", "--speculative-config", "{}"]}
PAIR = [{"role": "prefill", "argv": ["vllm"]}, {"role": "decode", "argv": ["vllm"]}]


@pytest.mark.parametrize(
    ("arm", "engines", "expected"),
    [
        ("base", [[ENGINE], [SPEC], PAIR], [ENGINE]),
        ("prefix", [[ENGINE], [SPEC], PAIR], [ENGINE]),
        ("pd", [[ENGINE], [SPEC], PAIR], PAIR),
        ("spec", [[ENGINE], [SPEC], PAIR], [SPEC]),
        ("base", [[ENGINE], [NO_CACHE]], [NO_CACHE]),
        ("prefix", [[ENGINE], [NO_CACHE]], [ENGINE]),
        ("all", [[ENGINE], [SPEC], PAIR], ()),
        ("base", [[ENGINE], [ENGINE]], ()),
        ("base", [], ()),
    ],
)
def test_an_arms_engine_is_named_only_without_doubt(arm: str, engines: list[list[dict[str, object]]], expected: object):
    assert processes_of(info(*engines), arm) == expected


def test_an_engine_in_other_words_is_passed_over():
    told = RunInfo(id="r", experiment="x", created="", state="done", asked={}, fingerprint={"engines": {"e": "fake"}})
    assert (engine_name(told), processes_of(told, "base")) == ("unknown", ())


def test_secrets_on_a_command_line_are_left_out():
    argv = ["python", "--api-key", "hunter2", "--hf-token=hunter2", "--max-num-batched-tokens", "2048", "--eager"]
    assert flags({"argv": argv}) == {
        "--api-key": MASK, "--hf-token": MASK, "--max-num-batched-tokens": "2048", "--eager": True,
    }  # fmt: skip
