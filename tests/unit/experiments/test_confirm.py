"""A confirmation on fake engines that say the right things, or give up: outcomes, order, pairs, refusals."""

import asyncio
import io
import sys
from pathlib import Path

import pytest
from rich.console import Console
from scripted_replies import giving_up, solving, warming

from labkit.analysis.confirmation import confirmation, in_words
from labkit.analysis.outcomes import NEVER_RAN, OutcomeRow, outcomes, pairs, solved
from labkit.analysis.tables import measured, typed_frame
from labkit.cli.confirm_view import solved_view
from labkit.cli.printed import PRINTED
from labkit.core.errors import BadInput, EngineDied, EngineNotReady, UnknownName
from labkit.core.progress import Progress
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.confirm import run_confirm
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.report import write_report
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import Run, RunStore

TASK = "evict-one-late"


def asked(**more: object) -> ConfirmAsked:
    return ConfirmAsked(**{"profile": "cpu-smollm2", "arm": "prefix", "tasks": (TASK,), "attempts": 2, **more})


def blocks(replies: tuple, count: int = 2) -> tuple:
    """What an engine says in so many blocks of one task: it is warmed up in each."""
    return (*warming(TASK), *replies) * count


async def confirmed(root: Path, base: tuple, prefix: tuple, question: ConfirmAsked | None = None) -> Run:
    async with FakeEngine(FakeDials(replies=base)) as one, FakeEngine(FakeDials(replies=prefix)) as other:
        provider = StaticProvider({"base": one.base_url, "prefix": other.base_url}, "fake", 16)
        return await run_confirm(question or asked(), provider, store=RunStore(root))


async def test_every_attempt_is_judged_and_the_faster_arm_that_gives_up_does_not_look_good(tmp_path: Path):
    run = await confirmed(tmp_path, base=blocks(solving(TASK)), prefix=blocks(giving_up()))
    assert run.info.state == "done"
    table = outcomes(run.events())
    assert sorted(zip(table["arm"], table["attempt"], table["reached"], strict=True)) == [
        ("base", 0, True), ("base", 1, True), ("prefix", 0, False), ("prefix", 1, False)
    ]  # fmt: skip
    row = solved(table).set_index("arm")
    assert (row.loc["base", "success_rate"], row.loc["prefix", "success_rate"]) == (1.0, 0.0)
    assert row.loc["prefix", "attempt_s"] < row.loc["base", "attempt_s"]
    assert row["solved_s"].isna()["prefix"]
    assert pairs(table, "base", "prefix") == ([True, True], [False, False])
    steps = measured(run.steps())
    assert set(steps["repeat"]) == {0, 1}
    assert set(steps["history"]) == {"live"}


async def test_both_arms_get_the_same_seeds_and_the_order_is_drawn(tmp_path: Path):
    dials = FakeDials(replies=blocks(giving_up()))
    async with FakeEngine(dials) as one, FakeEngine(dials) as two:
        provider = StaticProvider({"base": one.base_url, "prefix": two.base_url}, "fake", 16)
        await run_confirm(asked(seed=5), provider, store=RunStore(tmp_path))
        seeds = [[body["seed"] for body in engine.received] for engine in (one, two)]
    assert set(seeds[0]) == set(seeds[1]) == {5, 6}
    orders = {tuple(str(arm) for arm, _ in asked(seed=seed).order()) for seed in range(20)}
    assert len(orders) > 1
    assert all(sorted(order) == ["base", "base", "prefix", "prefix"] for order in orders)


async def test_an_arm_that_cannot_be_had_leaves_the_other(tmp_path: Path):
    class Refusing(StaticProvider):
        async def serve(self, arm, on_progress=lambda _: None, spec_method=None):
            if arm.label == "prefix":
                raise EngineNotReady("not today")
            return await super().serve(arm, on_progress, spec_method)

    async with FakeEngine(FakeDials(replies=blocks(giving_up()))) as engine:
        run = await run_confirm(asked(), Refusing({"base": engine.base_url}, "fake", 16), store=RunStore(tmp_path))
    assert run.info.state == "partial"
    assert "prefix not measured: not today" in run.info.note
    assert pairs(outcomes(run.events()), "base", "prefix") == ([], [])


class Dying(StaticProvider):
    """Finds the engine of `prefix` dead as soon as it is asked; `served` counts how often it was handed out."""

    def check(self, served):
        if served.switched_by == "flag":
            raise EngineDied("engine ended while it was measured", "", ("Killed",))


async def dying(root: Path, *prefix: tuple) -> Run:
    """Base solves both attempts; prefix says so much, and then its engine is found dead."""
    said = tuple(reply for part in prefix for reply in part)
    async with (
        FakeEngine(FakeDials(replies=blocks(solving(TASK)))) as one,
        FakeEngine(FakeDials(replies=said)) as two,
    ):
        provider = Dying({"base": one.base_url, "prefix": two.base_url}, "fake", 16)
        return await run_confirm(asked(), provider, store=RunStore(root))


async def test_an_attempt_whose_engine_dies_is_not_solved_and_what_never_ran_counts(tmp_path: Path):
    run = await dying(tmp_path, warming(TASK), solving(TASK)[:4])
    table = outcomes(run.events())
    rows = table[table["arm"] == "prefix"].sort_values("attempt")
    assert list(zip(rows["reached"], rows["stop_reason"], strict=True)) == [(False, "error"), (False, NEVER_RAN)]
    assert rows["seconds"].isna().tolist() == [False, True]
    assert pairs(table, "base", "prefix") == ([True, True], [False, False])
    row = solved(table).set_index("arm").loc["prefix"]
    assert (row["n_attempts"], row["n_cut"], row["n_never_ran"]) == (2, 1, 1)
    assert row["attempt_s"] == rows["seconds"].max()
    assert run.info.note == "prefix given up after 1 of 2 attempts: engine ended while it was measured"
    said = in_words(confirmation(table, "base", "prefix", 0.1), "base", "prefix", table)
    assert said.endswith("n 2 pairs of attempts); 1 attempt of prefix never ran and counts as not solved")
    assert said in write_report(run).read_text()
    assert [event["log_tail"] for event in run.events() if event["type"] == "engine_died"] == [["Killed"]]


async def test_a_solved_task_whose_answer_broke_off_with_the_engine_is_not_solved(tmp_path: Path):
    run = await dying(tmp_path, warming(TASK), solving(TASK)[:-1])
    first = outcomes(run.events()).set_index(["arm", "attempt"]).loc[("prefix", 0)]
    assert (first["stop_reason"], first["reached"]) == ("error", False)
    (told,) = (e for e in run.events() if e["type"] == "outcome" and e["arm"] == "prefix" and e.get("check_output"))
    assert "OK" in told["check_output"]


async def test_an_engine_that_dies_while_it_is_warmed_up_was_not_measured(tmp_path: Path):
    run = await dying(tmp_path, warming(TASK)[:1])
    table = outcomes(run.events())
    assert set(table["arm"]) == {"base"}
    assert run.info.note == "prefix not measured: engine ended while it was measured"
    found = confirmation(table, "base", "prefix", 0.1)
    assert in_words(found, "base", "prefix", table) == "prefix against base: too few to tell: no task"


async def test_an_engine_start_is_shown_beside_how_far_the_attempts_are(tmp_path: Path):
    class Starting(StaticProvider):
        async def serve(self, arm, on_progress=lambda _: None, spec_method=None):
            on_progress(Progress(stage=f"starting {arm}", message="7 s of ~16 s", done=7, total=16))
            return await super().serve(arm, on_progress, spec_method)

    seen: list[Progress] = []
    async with FakeEngine(FakeDials(replies=blocks(giving_up()) * 2)) as engine:
        provider = Starting({"base": engine.base_url, "prefix": engine.base_url}, "fake", 16)
        await run_confirm(asked(), provider, store=RunStore(tmp_path), on_progress=seen.append)
    told = [(each.done, each.total) for each in seen if each.message == "7 s of ~16 s"]
    assert told == [(n, 4) for n in range(4)]


async def test_each_block_is_warmed_up_with_what_its_attempts_will_ask_for(tmp_path: Path):
    async with (
        FakeEngine(FakeDials(replies=blocks(giving_up()))) as one,
        FakeEngine(FakeDials(replies=blocks(giving_up()))) as two,
    ):
        provider = StaticProvider({"base": one.base_url, "prefix": two.base_url}, "fake", 16)
        run = await run_confirm(asked(seed=5), provider, store=RunStore(tmp_path))
        sent = two.received[: len(warming(TASK))]
        acts = [body for body in two.received[len(sent) :] if "structured_outputs" in body]
    thrown = run.steps().query("warmup")
    assert thrown.groupby(["arm", "repeat"]).size().to_dict() == {
        (arm, n): len(sent) for arm in ("base", "prefix") for n in (0, 1)
    }
    assert set(thrown["task"]) == {"warmup"}
    assert acts[0]["structured_outputs"] in [body.get("structured_outputs") for body in sent]
    assert {(body["temperature"], body["seed"]) for body in sent} == {(0.6, 5)}
    assert all(body["messages"][0]["content"] != acts[0]["messages"][0]["content"] for body in sent)
    order = run.steps().sort_values("t_send").groupby(["arm", "repeat"])["warmup"].agg(list)
    assert all(flags == sorted(flags, reverse=True) for flags in order)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"arm": "base"}, "another arm than base"),
        ({"attempts": 0}, "1 or more"),
        ({"temperature": 0.0}, "temperature 0"),
        ({"margin": 0.0}, "between 0 and 1"),
        ({"margin": 1.5}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_asked_is_said(wrong: dict, said: str):
    with pytest.raises(BadInput, match=said):
        asked(**wrong).checked()


def test_an_unknown_task_or_arm_names_the_nearest():
    with pytest.raises(UnknownName, match=TASK):
        asked(tasks=("evict-one-lat",)).checked()
    with pytest.raises(UnknownName, match="prefix"):
        asked(arm="prefx").checked()


def test_how_it_was_tried_is_said_in_one_line():
    assert asked(attempts=1, steps=6).in_words().startswith("1 task x 1 attempt of at most 6 steps, live")
    assert asked().in_words().startswith("1 task x 2 attempts, live, temperature 0.6")


def test_the_table_of_arms_names_them_in_eighty_columns():
    row = OutcomeRow(arm="prefix+spec", task="t", attempt=0, reached=False, stop_reason="steps", steps=6, seconds=51.9)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(solved_view(solved(typed_frame(OutcomeRow, [row]))))
    assert "prefix+spec" in console.export_text()


def test_nothing_tried_is_an_empty_table():
    assert outcomes([]).empty
    assert solved(outcomes([])).empty


async def test_the_command_prints_what_was_solved_and_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    words = ["run", "confirm", "--arm", "prefix", "--tasks", TASK, "--attempts", "2", "--attach", "model=fake"]
    async with (
        FakeEngine(FakeDials(replies=blocks(solving(TASK)))) as one,
        FakeEngine(FakeDials(replies=blocks(giving_up()))) as two,
    ):
        urls = ["--attach", f"base={one.base_url}", "--attach", f"prefix={two.base_url}"]
        done = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "labkit",
            *words,
            *urls,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed = (await done.communicate())[0].decode()
    assert done.returncode == 0, printed
    assert "2 of 2" in printed
    assert "0 of 2" in printed
    verdict = "prefix against base: too few to tell: a loss of 10 points cannot be ruled out (-100 points"
    assert verdict in printed
    assert all(word in printed.replace("\n", " ") for word in ("prefix", "per solved task"))
    store = RunStore(tmp_path)
    console = Console(width=80, record=True, file=io.StringIO())
    PRINTED["confirm"](store.open(store.list()[0].id), console)
    assert verdict in console.export_text()
    page = write_report(store.open(store.list()[0].id)).read_text()
    assert verdict in page
    assert "as fast as base, end to end" not in page.lower()
    assert "times are not paired" in page
    assert "asked for: base and prefix" in page
