"""Old folders stay readable: the machinery, with a made-up schema change."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from builders import a_step

from labkit.core.errors import RunUnreadable
from labkit.core.records import SCHEMA
from labkit.store.migrations import EVENT_UPGRADES, RUN_UPGRADES, known_schema, upgraded
from labkit.store.runs import RunStore


def test_each_schema_has_its_upgrade():
    assert len(RUN_UPGRADES) == len(EVENT_UPGRADES) == SCHEMA - 1


def test_upgrades_are_applied_in_order_from_where_the_data_is():
    steps = (lambda d: {**d, "seen": [*d["seen"], "1to2"]}, lambda d: {**d, "seen": [*d["seen"], "2to3"]})
    assert upgraded({"seen": []}, 1, steps) == {"seen": ["1to2", "2to3"]}
    assert upgraded({"seen": []}, 2, steps) == {"seen": ["2to3"]}
    assert upgraded({"seen": []}, 3, steps) == {"seen": []}


@pytest.mark.parametrize("found", [None, "1", 0, -1, True, 1.0])
def test_no_schema_number(found):
    with pytest.raises(RunUnreadable, match="no schema number"):
        known_schema("run.json", found)


def test_a_newer_one_says_to_update():
    with pytest.raises(RunUnreadable, match=f"reads up to {SCHEMA}") as error:
        known_schema("run.json", SCHEMA + 1)
    assert "update labkit" in error.value.hint


def test_a_chunk_that_did_not_count_its_tokens_reads_as_not_measured():
    old = {"type": "step", "step": {}, "chunks": [{"index": 0, "t": 1.0}]}
    assert upgraded(old, 1, EVENT_UPGRADES)["chunks"] == [{"tokens": None, "index": 0, "t": 1.0}]
    assert upgraded({"type": "progress"}, 1, EVENT_UPGRADES) == {"type": "progress"}


def test_tables_of_a_labkit_that_lacked_a_column_are_made_again(tmp_path: Path):
    with RunStore(tmp_path).create("quick", {}, {}) as run:
        run.step(a_step(run.id))
    table = pq.read_table(run.folder / "steps.parquet")
    pq.write_table(table.drop_columns(["parse_s"]), run.folder / "steps.parquet")
    steps = RunStore(tmp_path).open(run.id).steps()
    assert len(steps) == 1
    assert steps["parse_s"].isna().all()
