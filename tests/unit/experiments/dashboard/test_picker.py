"""The list of runs: words that a person understands, the one that is wanted, and what to say when it is not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from labkit.core.records import RunInfo
from labkit.experiments.dashboard.picker import choices, label
from labkit.store.layout import RUN
from labkit.store.listing import Listing, Seen
from labkit.store.runs import RunStore

PROJECT = Path(__file__).parents[4]


@pytest.fixture
def store(tmp_path, monkeypatch) -> RunStore:
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "data"))
    return RunStore(tmp_path / "runs")


def made(store, state="done", **asked) -> str:
    run = store.create("quick", {"arms": ["base", "prefix"], "recording": "tiny", **asked}, {})
    run.finish(state)
    return run.id


def seen(state="done", name="20260131T120000Z-quick-6cb346", example=False, **asked) -> Seen:
    info = RunInfo(
        id="20260131T120000Z-quick-6cb346", experiment="quick", created="2026-01-31T12:00:00.5+00:00", state=state,
        asked=asked, fingerprint={},
    )  # fmt: skip
    return Seen(name=name, info=info, version=1, example=example)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (seen(recording="tiny", arms=["base", "prefix"]),
         "quick: tiny · base and prefix · 2026-01-31 12:00 UTC · 6cb346"),
        (seen("running", recordings=["a", "b"], arms=["base"] * 8),
         "quick: two recordings · eight arms · 2026-01-31 12:00 UTC · 6cb346"),
        (seen("partial", task="count", arms=["base"]),
         "quick: count · base · 2026-01-31 12:00 UTC · incomplete · 6cb346"),
        (seen(example=True), "example: quick · 2026-01-31 12:00 UTC · 6cb346"),
        (seen(name="a-copy"), "quick · 2026-01-31 12:00 UTC · a-copy"),
    ],
)  # fmt: skip
def test_a_label_says_what_when_and_how_it_ended(run, words):
    assert label(run, states=True) == words


def test_a_run_that_goes_on_says_so_beside_the_list_whose_words_stay(store):
    ended = made(store)
    with store.create("quick", {}, {}) as writer:
        going = choices(Listing(store), states=True)
        assert (going.picked, going.going) == (writer.id, True)
        assert not choices(Listing(store), ended).going
    over = choices(Listing(store), states=True)
    assert over.labels == going.labels
    assert not over.going


def test_without_states_a_label_never_changes():
    assert label(seen("running")) == label(seen("done"))


def test_the_newest_is_picked_unless_another_is_wanted(store):
    first, second = made(store), made(store)
    found = choices(Listing(store))
    assert list(found.labels) == [second, first]
    assert (found.picked, found.problem) == (second, "")
    assert choices(Listing(store), first).picked == first
    assert choices(Listing(store), first.rsplit("-", 1)[-1]).picked == first


def test_an_older_run_that_is_wanted_is_added(store):
    first = made(store)
    others = [made(store) for _ in range(3)]
    assert first not in choices(Listing(store), limit=2).labels
    found = choices(Listing(store), first, limit=2)
    assert list(found.labels) == [*others[:0:-1], first]
    assert found.picked == first
    assert "1 older" in found.help


def test_one_that_does_not_exist_says_so_and_shows_the_newest(store):
    run = made(store)
    found = choices(Listing(store), "nothing")
    assert found.picked == run
    assert "no run is called 'nothing'" in found.problem
    assert "labkit runs" in found.problem
    assert "Shown instead: the newest run." in found.problem


def test_one_that_does_not_open_says_why(store):
    run = made(store)
    (store.root / run / RUN).write_text("{")
    found = choices(Listing(store), run)
    assert (found.picked, found.labels, found.broken) == (None, {}, 1)
    assert "cannot be read" in found.problem
    assert "Shown instead" not in found.problem


def test_a_copy_stands_beside_what_it_is_a_copy_of(store):
    run = made(store)
    shutil.copytree(store.root / run, store.root / f"{run}-copy")
    found = choices(Listing(store), f"{run}-copy")
    assert set(found.labels) == {run, f"{run}-copy"}
    assert found.picked == f"{run}-copy"
    assert len(set(found.labels.values())) == 2


def test_a_store_that_is_a_file_is_a_problem_with_a_next_step(tmp_path, store):
    (tmp_path / "file").write_text("")
    found = choices(Listing(RunStore(tmp_path / "file")))
    assert "is a file" in found.problem
    assert "LABKIT_RUNS" in found.problem


def test_examples_come_last_and_are_shown_only_when_asked_for(store, monkeypatch):
    monkeypatch.setenv("LABKIT_DATA", str(PROJECT / "data"))
    found = choices(Listing(store))
    assert found.picked is None
    example, *others = found.examples
    assert found.labels[example].startswith("example: factorial")
    run = made(store)
    assert list(choices(Listing(store)).labels) == [run, example, *others]
    assert choices(Listing(store)).example == ""
    shown = choices(Listing(store), example)
    assert shown.picked == example
    assert "not on this machine" in shown.example
