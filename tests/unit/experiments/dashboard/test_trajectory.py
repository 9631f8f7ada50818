"""A trajectory from a run's folder: whose tokens are whose, what was said, and what an older folder does not know."""

from __future__ import annotations

import dataclasses
import json
import pickle
import shutil
from pathlib import Path

import pytest
import synthetic
import trajectories as made

from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.dashboard.trajectory.beside import beside_of
from labkit.experiments.dashboard.trajectory.records import Trajectory
from labkit.experiments.dashboard.trajectory.trajectory import trajectory
from labkit.experiments.dashboard.trajectory.which import Which, address, beside, choices, trajectories
from labkit.store.layout import RECORDINGS
from labkit.store.runs import RunStore
from labkit.traffic.recording import save


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "data"))
    return tmp_path


def opened(run_id: str) -> Opened:
    return Opened(RunStore().open(run_id))


def shown(run_id: str, arm: str = "prefix+spec") -> Trajectory:
    run = opened(run_id)
    return trajectory(run, next(which for which in trajectories(run) if which.arm == arm))


def test_each_of_several_live_agents_has_its_own_verdict():
    with RunStore().create("live", {"task": "t1", "agents": 2, "arms": ["base", "prefix"]}, {}) as run:
        for arm in ("base", "prefix"):
            for agent in ("0", "1"):
                about = {"agent": agent, "repeat": 0, "task": "t1"}
                made.write(run, arm, 1, None, **about)
                run.event("outcome", arm=arm, attempt=int(agent), reached=(arm, agent) == ("prefix", "1"), **about)
    found = {(each.arm, each.agent): trajectory(opened(run.id), each) for each in trajectories(opened(run.id))}
    assert {key: talk.reached for key, talk in found.items()} == {
        ("base", "0"): False, ("base", "1"): False, ("prefix", "0"): False, ("prefix", "1"): True,
    }  # fmt: skip


def test_every_message_has_its_tokens():
    talk = shown(made.replayed())
    told = [(line.role, line.turn, line.share.tokens, line.share.estimated) for line in talk.lines]
    assert told[3:] == [
        ("assistant", 1, 20, False), ("tool", 2, 180, False), ("assistant", 2, 20, False), ("user", 3, 180, False),
        ("assistant", 3, 20, False), ("tool", 4, 180, False),
    ]  # fmt: skip
    first = talk.lines[:3]
    assert [line.role for line in first] == ["tools", "system", "user"]
    assert sum(line.share.tokens for line in first) == 600
    assert all(line.share.estimated for line in first)


def test_segments_add_up_to_the_prompt_and_its_cached_prefix():
    talk = shown(made.replayed())
    for turn in talk.turns:
        segments = talk.segments(turn)
        assert sum(segment.tokens for segment in segments) == turn.prompt_tokens == 400 + 200 * turn.turn
        assert sum(segment.cached for segment in segments) == turn.cached_tokens
    last = talk.segments(talk.turns[3])  # 1200 tokens, 984 of them cached: 600 + 20 + 180 + 20 + 164 of 180
    assert [(segment.cached, segment.computed) for segment in last[3:]] == [
        (20, 0), (180, 0), (20, 0), (164, 16), (0, 20), (0, 180),
    ]  # fmt: skip


def test_what_is_new_in_a_step_leaves_out_the_reply_before_it():
    talk = shown(made.replayed())
    assert [[talk.lines[place].role for place in talk.new(turn)] for turn in talk.turns] == [
        ["tools", "system", "user"], ["tool"], ["user"], ["tool"],
    ]  # fmt: skip


def test_a_reply_has_its_call_its_accepted_tokens_and_its_times():
    turn = shown(made.replayed()).turns[2]
    assert turn.reply.line.calls[0].name == "read_file"
    assert json.loads(turn.reply.line.calls[0].arguments) == {"path": "a.py"}
    assert turn.reply.made.runs == (("accepted", 3), ("generated", 1)) * 5
    assert turn.reply.made.ordered
    assert (turn.reply.accepted, turn.reply.drafted, turn.reply.rounds) == (15, 20, 5)
    assert (turn.tool_name, turn.tool_s, turn.tool_bytes) == ("read_file", 0.25, len(made.RESULT))
    assert turn.decode_s == pytest.approx(1.0)
    assert turn.reply.same is True
    assert turn.reply.recorded is None


def test_a_reply_that_differs_is_shown_beside_the_recorded_one():
    talk = shown(made.replayed(other=[("prefix+spec", 2)]))
    reply = talk.turns[1].reply
    assert (reply.line.text, reply.recorded.text, reply.same) == ("Something else.", "Said in turn 2.", False)
    assert reply.goes_on == "recorded"
    assert [line.text for line in talk.lines if line.reply and line.turn == 2] == ["Said in turn 2."]


def test_with_live_history_the_conversation_goes_on_from_what_was_said():
    talk = shown(made.replayed(other=[("prefix+spec", 2)], history="live"))
    assert talk.turns[1].reply.goes_on == "live"
    assert [line.text for line in talk.lines if line.reply and line.turn == 2] == ["Something else."]


def test_a_folder_from_before_replies_were_kept_shows_what_a_hash_can_tell(machine: Path):
    save(made.recording(), machine / "data" / "recordings" / "talk.jsonl")
    talk = shown(made.replayed(texts=False, kept=False, other=[("prefix+spec", 2)]))
    assert "before replies were kept" in talk.note
    assert talk.turns[0].reply.line.calls[0].name == "read_file"
    assert (talk.turns[1].reply.line, talk.turns[1].reply.same) == (None, False)
    assert talk.turns[1].reply.recorded.text == "Said in turn 2."


def test_a_recording_that_is_gone_leaves_the_account_of_tokens():
    talk = shown(made.replayed(kept=False))
    assert "is not in the run's folder" in talk.note
    assert talk.lines == ()
    assert [(s.cached, s.computed) for s in talk.segments(talk.turns[1])] == [(600, 200)]
    assert talk.turns[1].reply.line.text == "Said in turn 2."


def test_another_recording_of_the_same_name_is_not_shown_for_it(machine: Path):
    other = dataclasses.replace(made.recording(), steps=made.recording(turns=2).steps)
    save(other, machine / "data" / "recordings" / "talk.jsonl")
    talk = shown(made.replayed(kept=False))
    assert "not the one that this run replayed" in talk.note
    assert talk.lines == ()


def test_a_mailed_folder_is_read_without_this_machines_recordings(machine: Path):
    run_id = made.replayed()
    shutil.move(RunStore().open(run_id).folder, machine / "mailed")
    run = Opened(RunStore(machine).open(machine / "mailed"))
    assert trajectory(run, trajectories(run)[0]).lines


def test_a_failed_step_is_counted_with_the_next():
    run = RunStore().create("replay", {"arms": ["base"]}, {})
    for turn in (1, 2, 3):
        step = made.recording().steps[turn - 1]
        gone = synthetic.failed("base", 2).to_dict() if turn == 2 else {}
        values = {name: value for name, value in gone.items() if value is None or name == "error"}
        made.write(run, "base", turn, None if turn == 2 else step.reply, recording="talk", **values)
    made.keep_recordings(run, [made.recording()])
    run.finish("done")
    talk = shown(run.id, "base")
    assert talk.turns[1].error == "HTTP 500"
    assert talk.segments(talk.turns[1]) == []
    assert sum(segment.tokens for segment in talk.segments(talk.turns[2])) == 1000
    assert talk.turns[1].reply.line is None


def test_a_step_that_another_arm_served_stays_in_its_trajectory():
    run = RunStore().create("live", {"arms": ["base"]}, {})
    for turn, arm, condition in ((1, "base", ""), (2, "prefix", "toggled from base"), (3, "base", "toggled from base")):
        made.write(run, arm, turn, made.ELSE, recording="talk", condition=condition)
    run.finish("done")
    known = trajectories(opened(run.id))
    assert [(which.arm, which.condition) for which in known] == [("base", "")]
    assert [turn.arm for turn in shown(run.id, "base").turns] == ["base", "prefix", "base"]
    link = {"arm": "prefix", "condition": "toggled from base", "turn": "2"}
    assert address(link) == {"arm": "base", "turn": "2"}
    assert address({"arm": "prefix"}) == {"arm": "prefix"}


def test_a_turn_that_was_also_thrown_away_is_shown_once_as_it_counts():
    run = RunStore().create("replay", {"arms": ["base"]}, {})
    made.write(run, "base", 1, made.call(), recording="talk", warmup=True)
    made.write(run, "base", 1, made.ELSE, recording="talk", t_send=50.0)
    made.write(run, "base", 9, made.ELSE, recording="other", warmup=True)
    run.finish("done")
    (talk,) = [trajectory(opened(run.id), which) for which in trajectories(opened(run.id))]
    assert [(turn.turn, turn.counts, turn.reply.line.text) for turn in talk.turns] == [(1, True, "Something else.")]


def test_what_may_be_chosen_goes_from_the_arm_inwards():
    run = opened(made.replayed(("base", "prefix")))
    known = trajectories(run)
    assert choices(known, {}, "arm") == ["base", "prefix"]
    assert choices(known, {"arm": "prefix"}, "recording") == ["talk"]
    assert beside(known, known[1]) == ["base"]
    gone = Which(**{**known[0].to_dict(), "agent": "7"})
    assert trajectory(run, gone).turns == ()


def test_the_same_step_under_another_arm_is_set_beside_it():
    run_id = made.replayed(("base", "prefix"), other=[("prefix", 2)])
    base, prefix = shown(run_id, "base"), shown(run_id, "prefix")
    same = beside_of(prefix, base, 1)
    assert (same.same_text, same.here, same.there) == (True, None, None)
    assert same.words == (
        "The same request under base: TTFT 0.60 s (here 0.60 s), in all 2.60 s (here 2.60 s); "
        "600 tokens: 0 cached, 600 computed; the text is identical."
    )
    other = beside_of(prefix, base, 2)
    assert (other.same_text, other.here, other.there, other.parts_at) == (
        False,
        "Something else.",
        "Said in turn 2.",
        1,
    )
    assert beside_of(prefix, base, 77) is None


def test_a_trajectory_is_small_and_can_be_kept():
    talk = shown(made.replayed(turns=300))
    assert len(talk.turns) == 300
    assert pickle.loads(pickle.dumps(talk)) == talk
    assert len(pickle.dumps(talk)) < 600_000


def test_a_run_without_steps_has_no_trajectory():
    with RunStore().create("replay", {}, {}) as run:
        pass
    assert trajectories(opened(run.id)) == ()
    assert not (run.folder / RECORDINGS).exists()
