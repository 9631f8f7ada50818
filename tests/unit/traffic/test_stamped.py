"""The time in the place that breaks the prefix, and in the one that does not: what is sent, kept and found again."""

from __future__ import annotations

from itertools import pairwise

import pytest
from synthetic import recording as tiny

from labkit.core.errors import BadInput
from labkit.core.paths import data_dir
from labkit.doctor.prompt_prefix import prompt_checks
from labkit.experiments.sent_requests import requests_of
from labkit.traffic.recording import Recording, load, named, save, sha256
from labkit.traffic.several import split
from labkit.traffic.stamped import stamped

NAME = "ranks-that-jump-live"


@pytest.fixture(scope="module")
def recording() -> Recording:
    return named(NAME)


def test_first_each_request_writes_its_own_time_before_the_system_prompt(recording):
    changed = stamped(recording, "first")
    for index, second in enumerate((52, 59)):
        system, *rest = changed.request(index).messages
        was, *as_before = recording.request(index).messages
        assert system == {**was, "content": f"It is 2026-11-30 10:00:{second}.\n\n{was['content']}"}
        assert rest == as_before
    assert changed.request(2).messages[0]["content"].startswith("It is 2026-11-30 10:01:06.")


def test_last_the_time_ends_the_newest_message_and_stays_there(recording):
    changed = stamped(recording, "last")
    sent = [changed.request(index).messages for index in range(3)]
    assert sent[0][-1]["content"] == recording.steps[0].append[-1]["content"] + "\n\nIt is 2026-11-30 10:00:52."
    assert all(later[: len(before)] == before for before, later in pairwise(sent))
    assert not any(step.rewritten for step in changed.steps)


@pytest.mark.parametrize(("place", "status"), [("first", "fail"), ("last", "ok")])
def test_the_doctor_names_the_place_of_the_one_and_has_nothing_against_the_other(recording, place, status):
    changed = stamped(recording, place)
    sent = [changed.request(index) for index in range(len(changed.steps))]
    check = prompt_checks(changed.header.name, sent)[0]
    assert check.status == status
    assert ("message 1 (system): a time or date that changes" in check.found) == (place == "first")


@pytest.mark.parametrize("place", ["first", "last"])
def test_it_is_the_same_after_a_file_and_in_a_runs_folder(recording, place, tmp_path):
    changed = stamped(recording, place)
    assert load(save(changed, tmp_path / "changed.jsonl")) == changed
    rows = [changed.header.to_dict(), *(step.to_dict() for step in changed.steps)]
    assert split(rows) == [changed]


def test_another_time_is_another_request_and_another_hash(recording):
    hashes = {sha256(each) for each in (recording, stamped(recording, "first"), stamped(recording, "first", 8.0))}
    assert len(hashes) == 3


@pytest.mark.parametrize("place", ["first", "last"])
def test_what_was_counted_of_the_requests_as_they_were_is_left_out(recording, place):
    for was, now in zip(recording.steps, stamped(recording, place).steps, strict=True):
        assert now.usage.prompt_tokens is None
        assert now.usage.completion_tokens == was.usage.completion_tokens


def test_a_recording_in_which_nothing_was_rewritten_is_written_as_ever(recording):
    assert not any("rewritten" in step.to_dict() for step in recording.steps)
    assert [("rewritten" in step.to_dict()) for step in stamped(recording, "first").steps[:2]] == [False, True]


def test_the_schema_says_whether_who_reads_the_first_one_alone_would_send_something_else(recording):
    assert stamped(recording, "first").header.schema == 2
    assert stamped(recording, "last").header.schema == recording.header.schema == 1


@pytest.mark.parametrize("place", ["first", "last"])
def test_the_file_that_was_replayed_for_the_notebook_is_this(recording, place):
    path = data_dir() / "recordings" / "variants" / f"{NAME}-time-{place}.jsonl"
    assert load(path) == stamped(recording, place)
    assert sha256(load(path)) == sha256(stamped(recording, place))
    assert len(requests_of(str(path))) == len(recording.steps)


def test_what_has_no_place_for_a_time_is_refused():
    with pytest.raises(BadInput, match="system prompt"):
        stamped(tiny(), "first")
    with pytest.raises(BadInput, match="first or last"):
        stamped(tiny(), "middle")
    parts = tiny(turns=1)
    parts.steps[0].append[0]["content"] = [{"type": "text", "text": "Count."}]
    with pytest.raises(BadInput, match="list"):
        stamped(parts, "last")
