"""A confirmation on fake engines that say the right things, or give up: outcomes, order, pairs, refusals."""

import asyncio
import sys
from pathlib import Path

import pytest
from scripted_replies import giving_up, solving

from labkit.analysis.outcomes import outcomes, pairs, solved
from labkit.core.errors import BadInput, EngineNotReady, UnknownName
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.confirm import run_confirm
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.report import write_report
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import Run, RunStore

TASK = "evict-one-late"


def asked(**more: object) -> ConfirmAsked:
    return ConfirmAsked(**{"profile": "cpu-smollm2", "arm": "prefix", "tasks": (TASK,), "attempts": 2, **more})


async def confirmed(root: Path, base: tuple, prefix: tuple, question: ConfirmAsked | None = None) -> Run:
    async with FakeEngine(FakeDials(replies=base)) as one, FakeEngine(FakeDials(replies=prefix)) as other:
        provider = StaticProvider({"base": one.base_url, "prefix": other.base_url}, "fake", 16)
        return await run_confirm(question or asked(), provider, store=RunStore(root))


async def test_every_attempt_is_judged_and_the_faster_arm_that_gives_up_does_not_look_good(tmp_path: Path):
    run = await confirmed(tmp_path, base=solving(TASK) * 2, prefix=giving_up() * 2)
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
    steps = run.steps()
    assert set(steps["repeat"]) == {0, 1}
    assert set(steps["history"]) == {"live"}


async def test_both_arms_get_the_same_seeds_and_the_order_is_drawn(tmp_path: Path):
    dials = FakeDials(replies=giving_up() * 2)
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

    async with FakeEngine(FakeDials(replies=giving_up() * 2)) as engine:
        run = await run_confirm(asked(), Refusing({"base": engine.base_url}, "fake", 16), store=RunStore(tmp_path))
    assert run.info.state == "partial"
    assert "prefix not measured: not today" in run.info.note
    assert pairs(outcomes(run.events()), "base", "prefix") == ([], [])


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


def test_nothing_tried_is_an_empty_table():
    assert outcomes([]).empty
    assert solved(outcomes([])).empty


async def test_the_command_prints_what_was_solved_and_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    words = ["run", "confirm", "--arm", "prefix", "--tasks", TASK, "--attempts", "2", "--attach", "model=fake"]
    async with (
        FakeEngine(FakeDials(replies=solving(TASK) * 2)) as one,
        FakeEngine(FakeDials(replies=giving_up() * 2)) as two,
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
    store = RunStore(tmp_path)
    assert verdict in write_report(store.open(store.list()[0].id)).read_text()
