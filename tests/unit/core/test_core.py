"""The common words: arms, names, records and their columns."""

import dataclasses

import pytest

from labkit.core.arms import ARMS, BASE, Arm, arm_named
from labkit.core.columns import columns_of
from labkit.core.errors import BadInput, EngineDied, UnknownName
from labkit.core.names import unknown
from labkit.core.records import ChunkRecord, SampleRecord, StepRecord


def test_eight_arms_with_the_labels_and_the_order_of_the_glossary():
    labels = [arm.label for arm in ARMS]
    assert labels == ["base", "prefix", "pd", "spec", "prefix+pd", "prefix+spec", "pd+spec", "all"]
    assert ARMS[0] == BASE


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_an_arm_is_found_by_its_label(arm: Arm):
    assert arm_named(arm.label) == arm


def test_an_unknown_arm_names_the_nearest():
    with pytest.raises(UnknownName, match=r"prefix\+spec") as error:
        arm_named("prefix+spce")
    assert isinstance(error.value, BadInput)
    assert "labkit plan" in error.value.hint
    assert error.value.message.startswith("no arm is called 'prefix+spce'; did you mean prefix+spec")
    assert (error.value.field, error.value.value) == ("arm", "prefix+spce")


@pytest.mark.parametrize(
    ("known", "instead"), [([], "none exist yet"), (["a", "b"], "there are: a, b"), ("abcdefghi", ", g, h, ...")]
)
def test_without_a_near_name_it_says_which_there_are(known: list[str], instead: str):
    assert unknown("task", "zzz", known, "labkit tasks").message.endswith(instead)


@pytest.mark.parametrize(
    ("value", "words"), [(["base", "base"], "base,base"), (None, "nothing"), ("x y", "'x y'"), (0, "0"), ([], "[]")]
)
def test_a_bad_value_is_said_as_it_would_be_typed(value: object, words: str):
    assert BadInput("arms", value, "each arm once").message == f"arms: {words} is not allowed; allowed: each arm once"


@pytest.mark.parametrize("record", [StepRecord, ChunkRecord, SampleRecord])
def test_every_field_of_a_table_record_declares_its_column(record: type):
    assert [c.name for c in columns_of(record)] == [f.name for f in dataclasses.fields(record)]
    assert all(c.meaning for c in columns_of(record))


def test_a_record_survives_a_round_trip_and_newer_fields():
    sample = SampleRecord(run="r", t=1.5, source="host", name="cpu", unit="%", value=None)
    assert SampleRecord.from_dict({**sample.to_dict(), "from_the_future": 1}) == sample


def test_an_engine_error_shows_its_log():
    text = str(EngineDied("decode ended with code 1", "labkit logs decode", ("line a", "line b")))
    assert text.splitlines() == ["decode ended with code 1", "  | line a", "  | line b", "labkit logs decode"]
