"""`labkit runs` and `show`, as a user sees them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from builders import a_step, chunks_at, frame_of
from rich.console import Console
from typer.testing import CliRunner

from labkit.analysis.arms import arm_table
from labkit.cli import runs
from labkit.cli.tables import arm_table_view
from labkit.core.arms import ARMS
from labkit.core.errors import UnknownName
from labkit.core.records import ChunkRecord, StepRecord
from labkit.store.runs import RunStore


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return RunStore()


def labkit(*arguments: str) -> str:
    app = typer.Typer()
    runs.register(app)
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False).output


def steps_of(arm: str, run: str = "r", turns: int = 6, seconds: float = 2.0) -> list[StepRecord]:
    more = {"drafts": 10, "drafted_tokens": 40, "accepted_tokens": 30} if "spec" in arm or arm == "all" else {}
    moved = {"transferred_tokens": 1300} if "pd" in arm or arm == "all" else {}
    return [
        a_step(
            run, arm=arm, turn=turn, t_send=0.0, t_first_token=0.25, t_last=seconds, t_end=seconds,
            prompt_tokens=1300, cached_tokens=640, ceiling_tokens=1248, completion_tokens=20, **more, **moved,
        )
        for turn in range(turns)
    ]  # fmt: skip


def a_run(store: RunStore) -> str:
    with store.create("quick", {"recording": "count", "arms": ["base", "spec"]}, {"labkit": "0.1.0"}) as run:
        for step in steps_of("base", run.id) + steps_of("spec", run.id, seconds=1.0):
            run.step(step, chunks_at(step, 0.25, 0.3, 0.4))
    return run.id


def test_runs_lists_newest_first_and_names_what_does_not_open(store: RunStore):
    assert "No runs" in labkit("runs")
    first, second = a_run(store), a_run(store)
    (store.root / "broken").mkdir()
    (store.root / "broken" / "run.json").write_text("{")
    lines = labkit("runs").splitlines()
    listed = [line for line in lines if first in line or second in line]
    assert second in listed[0]
    assert listed[1].split()[1:3] == ["done", listed[1].split()[2]]
    assert "12" in listed[1].split()
    assert listed[1].rstrip().endswith("base, spec")
    assert "does not open: broken" in lines[-1]


def test_show_tells_the_answer_and_where_it_is(store: RunStore):
    run_id = a_run(store)
    shown = labkit("show", run_id[-6:])
    assert "2.00x n 6" in shown
    assert "75 %/4.00" in shown
    assert "49 %/96 %" in shown
    assert "labkit run quick --recording count --arms base,spec" in shown
    assert "count: natural replay" in shown
    assert str(store.root / run_id) in shown.replace("\n", "").replace("folder  ", "")
    assert "Acceptance by kind of step" in shown


def test_show_of_a_run_without_steps_and_of_an_unknown_one(store: RunStore):
    with store.create("quick", {}, {}) as run:
        pass
    assert "No step has finished" in labkit("show", run.id)
    with pytest.raises(UnknownName):
        labkit("show", "nothing-like-it")


def test_show_says_the_notes_a_line_each_and_an_engine_that_died(store: RunStore):
    with store.create("quick", {}, {}) as run:
        for arm in ("spec", "pd"):
            run.event("engine_died", arm=arm, repeat=0, message="decode of e1 ended", hint="", log_tail=[])
        run.finish("cancelled", "one.\ntwo.")
    lines = [" ".join(line.split()) for line in labkit("show", run.id).splitlines()]
    assert [line for line in lines if line.startswith("note")] == [
        "note one.", "note two.", "note spec, pd: decode of e1 ended.",
    ]  # fmt: skip


def eight_arms() -> list[StepRecord]:
    return [step for arm in ARMS for step in steps_of(arm.label)]


@pytest.mark.parametrize("width", [120, 80])
def test_eight_arms_fit_the_terminal_with_nothing_cut_off(width: int):
    failed = a_step(arm="pd", turn=99, t_end=None, error="HTTP 500", switched_by="salt")
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    table = arm_table(frame_of([*eight_arms(), failed]), frame_of([], ChunkRecord))
    console.print(arm_table_view(table, width))
    text = console.export_text()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert all(arm.label in text for arm in ARMS)
    assert "1 failed" in text


def shown(*steps: StepRecord) -> str:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(arm_table_view(arm_table(frame_of(steps), frame_of([], ChunkRecord)), 120))
    return capture.get()


def test_doubt_and_dashes_are_shown():
    text = shown(*steps_of("base", turns=2), *steps_of("spec", turns=2, seconds=1.0))
    assert "2.00x? n 2" in text
    assert "?: too few pairs" in text
    assert "moved" not in text
    assert "?" not in shown(*steps_of("base"), *steps_of("spec"))
    bare = shown(a_step(arm="spec"))
    assert bare.splitlines()[3].split()[-7:] == ["–"] * 5 + ["n", "1"]
    assert "moved" in shown(*steps_of("pd"))


def test_seconds_are_over_the_pairs_when_arms_finished_different_steps():
    text = shown(*steps_of("base", turns=8), *steps_of("spec", turns=6, seconds=1.0))
    assert "6.00/12.0 s" in text
    assert "2.00x n 6" in text
    assert "over the n steps that both finished" in text
    even = shown(*steps_of("base"), *steps_of("spec", seconds=1.0))
    assert "12.0 s" in even
    assert "both finished" not in even


def test_failures_are_not_cut_where_every_time_is_wide():
    steps = [a_step(arm="pd", turn=n, t_end=None, error="HTTP 500") for n in range(13)]
    fast = [a_step(turn=n, t_send=0, t_first_token=0.0123, t_last=0.0456, t_end=0.0456, prompt_tokens=1300,
                   cached_tokens=640, completion_tokens=3) for n in range(3)]  # fmt: skip
    gaps = [chunk for step in fast for chunk in chunks_at(step, 0.0123, 0.0246, 0.0456)]
    console = Console(width=80)
    with console.capture() as capture:
        console.print(arm_table_view(arm_table(frame_of([*fast, *steps]), frame_of(gaps)), 80))
    text = capture.get()
    assert "failed" in text
    assert "…" not in text


def test_the_caption_explains_the_short_words():
    text = shown(*steps_of("pd"))
    for words in ("computed", "infinite cache", "from prefill to decode"):
        assert words in text


@pytest.mark.parametrize(
    ("seconds", "says"), [(-5, "0 s ago"), (59, "59 s ago"), (60, "1 min ago"), (7300, "2 h ago"), (200_000, "2 d ago")]
)
def test_how_long_ago(seconds: int, says: str):
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert runs.ago(datetime.fromtimestamp(now.timestamp() - seconds, UTC).isoformat(), now) == says


def test_cold_and_warm_passes_have_tables_of_their_own(store: RunStore):
    asked = {"recording": "count", "arms": ["base", "spec"], "repeats": 1, "drift_check": True}
    with store.create("quick", asked, {}) as run:
        for step in steps_of("base", run.id) + steps_of("spec", run.id, seconds=1.0):
            run.step(step, [])
            run.step(replace(step, cache="warm", t_end=step.t_end and step.t_end / 2), [])
        run.step(replace(steps_of("base", run.id)[0], repeat=1), [])  # shows drift
    text = labkit("show", run.id)
    cold, warm = text.split("Cold passes")[1].split("Warm passes")
    for part, seconds in ((cold, "12.0 s"), (warm, "6.00 s")):
        assert seconds in next(line for line in part.splitlines() if line.startswith("base"))
    assert "Acceptance by kind of step (warm passes)" in text
