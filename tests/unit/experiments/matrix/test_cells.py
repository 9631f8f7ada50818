"""Which cells a profile has, and that their keys are the same on every machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.arms import ARMS
from labkit.core.errors import UnknownName
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.matrix.cells import CellTable, cell_tables


def names(table: CellTable) -> list[tuple[str, str | None]]:
    return [(cell.arm.label, cell.method) for cell in table.cells]


def test_every_arm_and_every_drafter_in_the_arms_that_speculate() -> None:
    (table,) = cell_tables("cpu-smollm2")
    methods = ["ngram", "suffix", "draft_model"]
    assert names(table) == [(arm.label, method) for arm in ARMS for method in (methods if arm.speculation else [None])]
    assert {cell.connector for cell in table.cells} == {None, "NixlConnector"}


def test_a_variant_has_the_arms_that_it_changes() -> None:
    own, *variants = cell_tables("mi300x-8-qwen3-235b")
    by_name = {table.variant: table for table in variants}
    assert list(by_name) == list(own.profile.variants)
    assert {cell.arm.pd_split for cell in by_name["read"].cells} == {True}
    assert len(by_name["read"].cells) == sum(cell.arm.pd_split for cell in own.cells)
    assert names(by_name["kv-fp8"]) == names(own), "a flag of every engine changes every arm"
    assert by_name["read"].profile.name == "mi300x-8-qwen3-235b+read"


@pytest.mark.parametrize("name", list_profiles())
def test_no_two_cells_of_a_profile_are_one_plan(name: str) -> None:
    keys = [cell.key for table in cell_tables(name) for cell in table.cells if cell.plan]
    assert len(set(keys)) == len(keys) >= len(ARMS)


def test_keys_name_no_place_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = [cell.key for cell in cell_tables("cpu-smollm2")[0].cells]
    monkeypatch.setenv("LABKIT_MODELS", str(tmp_path))
    monkeypatch.setattr("labkit.engines.machine.usable_cores", lambda: (7,))
    assert [cell.key for cell in cell_tables("cpu-smollm2")[0].cells] == before
    words = [word for cell in cell_tables("cpu-smollm2")[0].cells for p in cell.plan.layout for word in p.argv]  # type: ignore[union-attr]
    assert not [word for word in words if word.startswith("/")]


def test_a_rule_of_the_engine_leaves_a_cell_without_a_plan() -> None:
    tables = {table.variant: table for table in cell_tables("mi300x-8-qwen3-235b-sglang")}
    cells = {cell.method: cell for cell in tables["decode-cache"].cells if cell.arm.label == "all"}
    assert (cells["ngram"].plan, cells["ngram"].key, cells["ngram"].connector) == (None, "", None)
    assert "'NGRAM' is not allowed" in cells["ngram"].refused
    assert cells["eagle3"].plan
    assert cells["eagle3"].connector == load_profile("mi300x-8-qwen3-235b-sglang").layers.pd_split.transfer


def test_a_profile_that_nobody_wrote_is_named() -> None:
    with pytest.raises(UnknownName):
        cell_tables("cpu-smallm2")
