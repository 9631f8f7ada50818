"""An engine that is killed under an agent, what is left of the run, and the settings that bound a transfer."""

from __future__ import annotations

import os
from dataclasses import replace

import fake_vllm
import pytest
from run_folders import ended
from synthetic import failed, recording, step

from labkit.core.errors import BadInput
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.experiments.lessons import pit_tables
from labkit.experiments.lessons.broken_transfer import broken, broken_run, survives, what_broke
from labkit.experiments.lessons.transfer_settings import SETTINGS, claims_on_transfer, settings_table
from labkit.store.claims import load_claims
from labkit.store.runs import RunStore
from labkit.traffic.recording import save


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A profile whose `vllm` is the fake engine, and a recording that lasts some seconds on it."""
    for variable in ("RUNS", "STATE", "DATA"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    save(recording(turns=150), tmp_path / "data" / "recordings" / "tiny.jsonl")
    profile, path = fake_vllm.install(tmp_path / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    yield str(profile)
    Fleet().down()


def test_a_killed_engine_costs_the_step_in_flight_and_the_rest(fake):
    said: list[str] = []
    question = {"profile": fake, "recording": "tiny", "arms": ["prefix"]}
    run = broken_run(question, role="engine", after=1, say=said.append)
    broke = what_broke(run)
    assert said[0].startswith("killed engine of ")
    assert run.info.state == "partial"
    assert "ended while it was measured" in broke.note
    assert 1 <= broke.n_finished < 150
    assert broke.n_failed == 1
    assert broke.error
    assert broke.lost
    assert survives(run).holds is False
    table = pit_tables.steps_of(run)
    assert len(table) == broke.n_finished + 1
    assert table["failed with"].iloc[-1] == broke.error
    assert (table["failed with"].iloc[:-1] == "–").all()


def test_a_stored_one_is_opened_and_told(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    gone = replace(failed("prefix+pd", 2), t_end=0.5)
    name = ended([step("prefix+pd", 1), gone], "partial", "prefix+pd ended early.")
    said: list[str] = []
    run = broken({}, "stored", name, said.append)
    assert said[0].startswith(f"stored run {name}")
    assert "note: prefix+pd ended early." in said[0]
    holds, saw = survives(run)
    assert holds is False
    assert saw.startswith("1 step had finished; the next one failed 500 ms after it was sent")
    assert what_broke(run).lost is None


def test_a_run_in_which_nothing_broke_survives(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    run = RunStore().open(ended([step("prefix+pd", 1)]))
    assert survives(run) == (True, "1 step had finished and none failed")
    assert what_broke(run).after_s is None


def test_another_engine_is_refused():
    with pytest.raises(BadInput, match="live or stored"):
        broken({}, "fake", "latest")


@pytest.mark.parametrize(
    ("profile", "known"),
    [
        ("cpu-smollm2", {"kv_load_failure_policy": "fail", "transfer_timeout": "–", "kv_lease_duration": "–"}),
        ("mi300x-8-qwen3-235b", {"transfer_timeout": "30", "defer_timeout": "60", "recv_abort_timeout": "120"}),
    ],
)
def test_what_a_profile_sets_stands_beside_the_default(profile, known):
    table = settings_table(load_profile(profile)).set_index("setting")
    assert list(table.index) == [setting.name for setting in SETTINGS]
    assert {name: table.loc[name, "this profile"] for name in known} == known
    assert table.loc["--retry-max-retries", "this profile"].startswith("off")


def test_claimed_settings_stand_beside_what_is_true_today():
    table = claims_on_transfer(load_claims())
    assert len(table) == 4
    assert (table["source"] == "seed article").all()
    assert table["claimed"].str.contains("rdma_timeout_ms").any()
    assert table["today"].str.contains("recv_abort_timeout 120").any()


def test_without_a_run_nothing_is_told_and_it_says_how_to_make_one():
    said: list[str] = []
    assert broken({}, "stored", "", said.append) is None
    assert "BREAK = True" in said[0]
    assert survives(None) == (None, "no engine was broken")
    assert list(pit_tables.steps_of(None).columns) == ["turn", "kind", "time", "failed with"]
    assert not len(pit_tables.steps_of(None))
