"""Blocks and bytes beside a drafter, read back from a run whose engines' sizes are known."""

from __future__ import annotations

import pandas as pd
import pytest
from synthetic import step

from labkit.core.records import SampleRecord
from labkit.experiments.lessons import draft_memory, pit_tables
from labkit.experiments.lessons.draft_memory import claim_of, draft_weights_gb, room_table, takes, weighs
from labkit.store.claims import load_claims
from labkit.store.runs import Run, RunStore
from labkit.telemetry.names import KV_USAGE

ARGV = ["python", "--dtype", "float32", "--kv-cache-memory-bytes", "1610612736"]
ENGINES = ((None, "prefix", 1091, 4.0), ("ngram", "prefix+spec", 1091, 4.02), ("draft_model", "prefix+spec", 545, 4.54))
"""Drafter, arm, blocks, and GB in use on the machine; one after the other, 10 s each."""


@pytest.fixture(autouse=True)
def known_model(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(draft_memory, "kv_bytes_per_token", lambda profile: 46_080)


def run(engines=ENGINES, readings: int = 5) -> Run:
    with RunStore().create("speculation", {"profile": "cpu-smollm2"}, {}) as writer:
        for number, (method, arm, blocks, used_gb) in enumerate(engines):
            name, began = f"e{number}", 10.0 * number
            layout = [
                {"role": "engine", "argv": ARGV, "metrics": True},
                {"role": "router", "argv": [], "metrics": False},
            ]
            writer.event("serving", engine=name, arm=arm, block_size=32, plan={"method": method, "layout": layout})
            writer.samples(
                [
                    sample
                    for n in range(readings)
                    for sample in (
                        one(writer.id, began + n, f"{name}/engine", KV_USAGE, 1.0 - (blocks - 20 - n) / blocks),
                        one(writer.id, began + n, "host", "memory_used", used_gb * 1e9 + n),
                    )
                ]
            )
            writer.step(step(arm, 1, t=began, engine=name, run=writer.id), [])
        writer.finish("done")
    return RunStore().open(writer.id)


def one(run: str, t: float, source: str, name: str, value: float) -> SampleRecord:
    return SampleRecord(run=run, t=t, source=source, name=name, unit="", value=value)


def test_each_engine_tells_its_blocks_and_what_is_left_of_them():
    table = room_table(run()).set_index("drafter")
    assert dict(table["blocks"]) == {"none": 1091, "ngram": 1091, "draft_model": 545}
    assert list(table["tokens"]) == [34_912, 34_912, 17_440]
    assert list(table["expected_tokens"]) == [34_912, 34_912, 17_440]
    assert table.loc["draft_model", "share"] == pytest.approx(545 / 1091)
    assert (table["n"] == 5).all()


def test_memory_is_that_of_the_time_in_which_the_engine_was_measured():
    table = room_table(run()).set_index("drafter")
    assert list(table["used_gb"]) == pytest.approx([4.0, 4.02, 4.54])
    assert (table["n_used"] >= 2).all()


def test_a_draft_of_the_same_size_halves_the_blocks():
    holds, saw = takes(room_table(run()), "draft_model", 0.5)
    assert holds
    assert "beside draft_model requests can be given 545 blocks, 17,440 tokens" in saw
    assert "without a drafter 1,091: 50 % are left (n = 5 and 5 readings)" in saw
    assert takes(room_table(run()), "ngram", 1.0).holds
    assert takes(room_table(run()), "ngram", 0.5).holds is False


def test_weights_show_in_the_machines_memory_or_they_do_not():
    rooms = room_table(run())
    holds, saw = weighs(rooms, "draft_model", 0.54)
    assert holds
    assert "the machine had 0.54 GB more in use, where the weights alone are 0.54 GB by arithmetic" in saw
    assert weighs(rooms, "draft_model", 2.0).holds is False
    assert weighs(rooms, "draft_model", None).holds is None


def test_what_a_run_does_not_tell_is_a_dash_and_no_verdict():
    idle = room_table(run(readings=0))
    assert idle["blocks"].isna().all()
    assert idle["used_gb"].isna().all()
    assert list(pit_tables.rooms(idle)["KV blocks"]) == ["–"] * 3
    assert takes(idle, "draft_model", 0.5).holds is None
    assert weighs(idle, "draft_model", 0.54).holds is None
    without = room_table(run(ENGINES[1:]))
    assert without["share"].isna().all()
    assert "no engine with draft_model beside one without" in takes(without, "draft_model", 0.5).saw


def test_an_unknown_draft_or_profile_has_no_arithmetic(monkeypatch):
    monkeypatch.setattr(draft_memory, "kv_bytes_per_token", lambda profile: None)
    assert room_table(run())["expected_tokens"].isna().all()


def test_a_split_engine_is_left_out():
    with RunStore().create("replay", {"profile": "cpu-smollm2"}, {}) as writer:
        layout = [{"role": role, "argv": ARGV, "metrics": True} for role in ("prefill", "decode")]
        writer.event("serving", engine="e0", arm="pd", block_size=32, plan={"method": None, "layout": layout})
        writer.step(step("pd", 1, run=writer.id), [])
        writer.finish("done")
    assert not len(room_table(RunStore().open(writer.id)))


def test_weights_are_the_files_values_as_wide_as_the_engine_keeps_them(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").write_bytes(b"0" * 1000)
    monkeypatch.setattr(draft_memory.weights, "path", lambda name: tmp_path)
    assert draft_weights_gb(run()) == pytest.approx(2000 / 1e9)
    with RunStore().create("replay", {"profile": "no-such"}, {}) as writer:
        writer.finish("done")
    assert draft_weights_gb(RunStore().open(writer.id)) is None


def test_the_claim_stands_beside_its_source():
    said = pit_tables.claimed(claim_of(load_claims(), "article-draft-memory"))
    assert said.startswith("Claimed (seed article, 2026): *A draft model takes about 12 GB, undocumented.*")
    assert "1.2 GB for 0.6B" in said
    with pytest.raises(KeyError):
        claim_of(pd.DataFrame({"id": []}), "none")
