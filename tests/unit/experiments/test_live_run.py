"""A live run on fake engines with known answers: a toggle acts on the next step, and toggled steps pair with none."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from synthetic import recording

from labkit.analysis.arms import arm_table
from labkit.core.arms import Arm, arm_named
from labkit.core.errors import BadInput, EngineDied, EngineError, UnknownName, WeightsError
from labkit.core.progress import OnProgress, Progress, silent
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.cold import resets
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_run import run_laps
from labkit.experiments.serving import Served, StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import save

BLOCK = 16
DIALS = {"ttft_s": 0.05, "itl_s": 0.002, "block_size": BLOCK, "reply_tokens": 4}


@pytest.fixture
def source(tmp_path: Path) -> str:
    return str(save(recording("tiny", turns=6), tmp_path / "tiny.jsonl"))


@asynccontextmanager
async def engines(*arms: str, **dials: Any):
    """An engine for each arm that is named, `base+prefix`-wise sharing one under `base,prefix`."""
    async with AsyncExitStack() as stack:
        urls: dict[str, str] = {}
        for names in arms:
            engine = await stack.enter_async_context(FakeEngine(FakeDials(**{**DIALS, **dials})))
            urls |= dict.fromkeys(names.split(","), engine.base_url)
        yield StaticProvider(urls, "fake", BLOCK)


class Hand:
    """Wishes as a hand on the page makes them: `when` a step has ended, `arm` is wished for."""

    def __init__(self, *plan: tuple[int, str]) -> None:
        self.plan = list(plan)
        self.wish: Arm | None = None
        self.asked_at: dict[str, float] = {}

    def seen(self, progress: Progress) -> None:
        if self.plan and self.wish is None and (progress.done or 0) >= self.plan[0][0]:
            _, arm = self.plan.pop(0)
            self.wish, self.asked_at[arm] = arm_named(arm), time.monotonic()

    def __call__(self) -> Arm | None:
        wish, self.wish = self.wish, None
        return wish


async def live(source: str, provider: Any, root: Path, hand: Hand | None = None, **asked: Any) -> Run:
    hand = hand or Hand()
    question = LiveAsked(**{"profile": "cpu-smollm2", "recording": source, "gaps": False, **asked})
    return await run_laps(question, provider, store=RunStore(root), on_progress=hand.seen, wishes=hand)


def told(run: Run, kind: str) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["type"] == kind]


def measured(run: Run):
    steps = run.steps()
    return steps[~steps["warmup"]]


async def test_laps_alternate_between_the_arms_and_pair(source: str, tmp_path: Path):
    async with engines("base,prefix") as provider:
        done = await live(source, provider, tmp_path, laps=2)
    assert done.info.state == "done", done.info.note
    laps = [(event["arm"], event["repeat"]) for event in told(done, "lap")]
    assert laps == [("base", 0), ("prefix", 0), ("base", 1), ("prefix", 1)]
    rows = measured(done)
    assert not rows.duplicated(["arm", "task", "recording", "agent", "condition", "cache", "repeat", "turn"]).any()
    assert set(rows["condition"]) == {""}
    table = arm_table(done.steps(), done.chunks()).set_index("arm")
    assert table.loc["prefix", "n_pairs"] == 12
    assert table.loc["base", "hit_rate"] == 0
    assert table.loc["prefix", "hit_rate"] == pytest.approx(table.loc["prefix", "hit_ceiling"])
    assert 0 < table.loc["prefix", "hit_ceiling"] == pytest.approx(table.loc["base", "hit_ceiling"])
    assert len(told(done, "sent")) == len(rows) == 24
    counters = told(done, "counters")
    assert [(c["arm"], c["repeat"]) for c in counters] == laps
    assert "toggled" not in done.info.note


async def test_a_toggle_between_warm_arms_acts_on_the_next_step(source: str, tmp_path: Path):
    hand = Hand((7, "spec"), (10, "base"), (13, "spec"))
    async with engines("base,prefix", "spec") as provider:
        done = await live(source, provider, tmp_path, hand, arms=("base", "prefix"), laps=2)
    assert done.info.state == "done", done.info.note
    assert [event["arm"] for event in told(done, "steer")] == ["spec", "base", "spec"]
    for steer in told(done, "steer"):
        first = next(e for e in told(done, "sent") if e["t"] > steer["t"] and e["arm"] == steer["arm"])
        assert first["t"] - steer["t"] < 2.0
        between = [e for e in told(done, "sent") if steer["t"] < e["t"] < first["t"]]
        assert len(between) <= 1  # what left while the other arm was being looked up
    again = [event for event in told(done, "switch") if event["was"] == "base" and event["arm"] == "spec"]
    assert all(event["warm"] for event in again)
    assert again[-1]["waited_s"] < 0.5
    assert resets(done.events()) == []  # two engines, told apart
    last_laps = [event["arm"] for event in told(done, "lap")][2:]
    assert set(last_laps) <= {"spec", "base"}  # the wish is what later laps are planned for


async def test_toggled_steps_pair_with_none(source: str, tmp_path: Path):
    hand = Hand((8, "base"), (9, "prefix"))
    async with engines("base,prefix", itl_s=0.04) as provider:
        done = await live(source, provider, tmp_path, hand)
    rows = measured(done)
    assert not rows.duplicated(["arm", "task", "recording", "agent", "condition", "cache", "repeat", "turn"]).any()
    lap = rows[rows["t_send"] > told(done, "lap")[1]["t"]]
    planned, toggled = lap[lap["condition"] == ""], lap[lap["condition"] != ""]
    assert set(toggled["condition"]) == {"toggled from prefix"}
    assert set(planned["arm"]) == {"prefix"}
    assert len(planned) >= 2
    assert set(toggled["arm"]) == {"base", "prefix"}  # back under prefix, its cache is not what it would be
    assert planned["turn"].max() < toggled["turn"].min()
    back = toggled[toggled["arm"] == "prefix"].iloc[0]
    assert back["ceiling_tokens"] > back["reachable_tokens"] == pytest.approx(back["cached_tokens"], abs=BLOCK)
    table = arm_table(done.steps(), done.chunks()).set_index("arm")
    assert table.loc["prefix", "n_pairs"] == len(planned)
    were = "was" if len(toggled) == 1 else "were"
    left_out = f"toggled while it ran, so {len(toggled)} of 12 steps {were} left out of every comparison"
    assert left_out in done.info.note
    stretches = [(c["arm"], c["condition"]) for c in told(done, "counters")]
    assert stretches == [
        ("base", ""), ("prefix", ""), ("base", "toggled from prefix"), ("prefix", "toggled from prefix")
    ]  # fmt: skip
    grown = [c["processes"]["engine"]["growth"]["requests"] for c in told(done, "counters")]
    assert sum(grown) == 12


class Refusing(StaticProvider):
    """Has no engine for `spec`."""

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        if arm.speculation:
            raise EngineError("no drafter on this machine", "Use another.", ("ValueError: ngram",))
        return await super().serve(arm, on_progress, spec_method)


async def test_a_refused_wish_is_told_and_the_run_goes_on(source: str, tmp_path: Path):
    hand = Hand((2, "spec"))
    async with engines("base,prefix") as provider:
        done = await live(source, Refusing(provider.urls, "fake", BLOCK), tmp_path, hand)
    assert done.info.state == "done"
    assert "spec was wished for and refused: no drafter on this machine." in done.info.note
    (refused,) = told(done, "refused")
    assert refused["log_tail"] == ["ValueError: ngram"]
    assert measured(done).groupby("arm").size().to_dict() == {"base": 6, "prefix": 6}
    assert set(measured(done)["condition"]) == {""}


class Weightless(StaticProvider):
    """Has nothing to serve `spec` with; `closed` once it was told to end its engines."""

    closed: bool = False

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        if arm.speculation:
            raise WeightsError("the drafter's weights are damaged", "Fetch them again.")
        return await super().serve(arm, on_progress, spec_method)

    async def close(self, *, keep: bool) -> list[str]:
        self.closed = True
        return []


async def test_after_a_wish_without_weights_the_next_one_is_still_heard(source: str, tmp_path: Path):
    hand = Hand((2, "spec"), (4, "prefix"))
    async with engines("base,prefix") as provider:
        weightless = Weightless(provider.urls, "fake", BLOCK)
        done = await live(source, weightless, tmp_path, hand, arms=("base",), laps=2)
    assert [event["message"] for event in told(done, "refused")] == ["the drafter's weights are damaged"]
    assert [event["arm"] for event in told(done, "switch")] == ["base", "prefix"]
    assert weightless.closed
    assert told(done, "closed")


async def test_engines_are_let_go_of_even_when_the_ear_for_wishes_has_broken(source: str, tmp_path: Path):
    def broken() -> Arm | None:
        raise RuntimeError("a mistake of ours")

    async with engines("base,prefix") as provider:
        weightless = Weightless(provider.urls, "fake", BLOCK)
        question = LiveAsked(profile="cpu-smollm2", recording=source, gaps=False)
        with pytest.raises(RuntimeError, match="a mistake of ours"):
            await run_laps(question, weightless, store=RunStore(tmp_path), wishes=broken)
    assert weightless.closed
    assert told(RunStore(tmp_path).runs()[0], "closed")


async def test_a_planned_arm_that_is_refused_is_passed_over(source: str, tmp_path: Path):
    async with engines("base,prefix") as provider:
        refusing = Refusing(provider.urls, "fake", BLOCK)
        done = await live(source, refusing, tmp_path, arms=("spec", "base"), laps=2)
        none = await live(source, refusing, tmp_path, arms=("spec",), laps=0)
    assert done.info.state == "partial"
    assert "spec not measured: no drafter on this machine." in done.info.note
    assert len(told(done, "refused")) == 1
    assert len(measured(done)) == 12
    last = told(done, "progress")[-1]
    assert last["done"] == last["total"] == 12
    assert none.info.state == "failed"


async def test_agents_at_once_are_lanes_of_their_own(source: str, tmp_path: Path):
    hand = Hand((8, "spec"))
    async with engines("base,prefix", "spec") as provider:
        done = await live(source, provider, tmp_path, hand, agents=4)
    rows = measured(done)
    assert len(rows) == 48
    assert rows.groupby("agent").size().to_dict() == dict.fromkeys("0123", 12)
    assert not rows.duplicated(["arm", "task", "recording", "agent", "condition", "cache", "repeat", "turn"]).any()
    assert rows[["ceiling_tokens", "server_s"]].isna().all(axis=None)
    assert (rows[(rows["turn"] == 1)]["cached_tokens"] == 0).all()  # nobody finds what another has left
    assert {event["arm"] for event in told(done, "sent")} == set(rows["arm"]) == {"base", "spec"}
    at_once = [event for event in told(done, "sent") if event["turn"] == 1 and event["repeat"] == 0][:4]
    assert at_once[-1]["t"] - at_once[0]["t"] < 0.5
    toggled = told(done, "ceiling")
    assert [(e["arm"], e["condition"]) for e in toggled] == [("base", ""), ("spec", "toggled from base"), ("spec", "")]
    untouched = rows[rows["condition"] == "toggled from base"]
    assert toggled[1]["prompt_tokens"] == untouched["prompt_tokens"].sum()
    assert [c["arm"] for c in told(done, "counters")] == ["spec"]  # those of a toggled lap are of no arm


async def until(happened: Callable[[Run], bool], root: Path) -> Run:
    """The run under `root`, once something has happened in it."""
    for _ in range(1000):
        runs = RunStore(root).runs()
        if runs and happened(runs[0]):
            return runs[0]
        await asyncio.sleep(0.02)
    raise TimeoutError("it did not happen")


async def test_without_laps_it_goes_on_until_it_is_stopped(source: str, tmp_path: Path):
    async with engines("base,prefix") as provider:
        running = asyncio.create_task(live(source, provider, tmp_path, laps=0))
        await until(lambda run: len(told(run, "lap")) > 3, tmp_path)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    (stopped,) = RunStore(tmp_path).runs()
    assert stopped.info.state == "cancelled"
    assert stopped.info.note.startswith("stopped by the user.")
    assert len(measured(stopped)) >= 18
    assert told(stopped, "closed")
    assert all(event["total"] is None for event in told(stopped, "progress"))


class Starting(StaticProvider):
    """`spec` takes a start of half a second; `dead` are engines that have died."""

    dead: frozenset[str] = frozenset()

    def starts(self, arms: Any, spec_methods: Any = (), *, fresh: bool = False) -> list[float]:
        return [0.5 if arm.speculation else 0.0 for arm in arms]

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        if arm.speculation:
            on_progress(Progress(stage="starting spec", message="starting (0 s of ~1 s): engine", done=0.0, total=0.5))
            await asyncio.sleep(0.5)
        return await super().serve(arm, on_progress, spec_method)

    def check(self, served: Served) -> None:
        if served.base_url in self.dead:
            raise EngineDied("engine ended while it was measured", "", ("Killed",))


@pytest.mark.parametrize("agents", [1, 3])
async def test_no_step_is_measured_beside_a_start(source: str, tmp_path: Path, agents: int):
    hand = Hand((2, "spec"))
    async with engines("base,prefix", "spec") as provider:
        done = await live(source, Starting(provider.urls, "fake", BLOCK), tmp_path, hand, agents=agents)
    (switch,) = (event for event in told(done, "switch") if event["arm"] == "spec")
    assert not switch["warm"]
    assert switch["waited_s"] > 0.5
    rows, began = measured(done), switch["t"] - 0.5
    assert ((rows["t_end"] <= began) | (rows["t_send"] >= switch["t"])).all()
    assert (rows["send_lag_s"] < 0.4).all()  # waiting for an engine is no lag of the client
    warming = done.steps()[done.steps()["warmup"] & (done.steps()["arm"] == "spec")]
    assert (warming["t_end"] <= switch["t"]).all()


async def test_a_newer_wish_breaks_off_a_start(source: str, tmp_path: Path):
    hand = Hand((2, "spec"))
    hand.seen_starting = False

    def seen(progress: Progress) -> None:
        hand.seen(progress)
        if progress.message.startswith("starting (") and not hand.seen_starting:
            hand.seen_starting, hand.wish = True, arm_named("prefix")

    async with engines("base,prefix", "spec") as provider:
        question = LiveAsked(profile="cpu-smollm2", recording=source, gaps=False, arms=("base",))
        slow = Starting(provider.urls, "fake", BLOCK)
        done = await run_laps(question, slow, store=RunStore(tmp_path), on_progress=seen, wishes=hand)
    assert done.info.state == "done", done.info.note
    assert [event["arm"] for event in told(done, "switch")] == ["base", "prefix"]
    assert set(measured(done)["arm"]) == {"base", "prefix"}


async def test_after_a_death_the_arm_before_goes_on(source: str, tmp_path: Path):
    hand = Hand((2, "spec"))
    async with engines("base,prefix") as provider, FakeEngine(FakeDials(**DIALS)) as spec:
        provider = Starting({**provider.urls, "spec": spec.base_url}, "fake", BLOCK)
        running = asyncio.create_task(live(source, provider, tmp_path, hand, laps=2))
        await until(lambda run: "spec" in [event["arm"] for event in told(run, "sent")], tmp_path)
        provider.dead = frozenset({spec.base_url})
        await spec.__aexit__(None, None, None)
        done = await running
        await spec.__aenter__()
    (died,) = told(done, "engine_died")
    assert (died["arm"], died["log_tail"]) == ("spec", ["Killed"])
    rows = measured(done)
    assert rows[rows["arm"] == "spec"]["error"].notna().any()
    assert next(event["arm"] for event in told(done, "switch") if event["t"] > died["t"]) == "base"
    after = rows[rows["t_send"] > died["t"]]
    assert set(after["arm"]) == {"base", "prefix"}  # the wish went with its engine: the next laps are as planned
    assert after["error"].isna().all()
    assert done.info.state == "partial"
    assert re.search(r"^spec (not measured|ended early): engine ended while it was measured\.$", done.info.note, re.M)


async def test_after_a_death_with_nothing_before_it_the_run_ends(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(**DIALS)) as only:
        provider = Starting({"base": only.base_url, "prefix": only.base_url}, "fake", BLOCK)
        running = asyncio.create_task(live(source, provider, tmp_path, laps=0, agents=2))
        await until(lambda run: bool(told(run, "step")) and len(measured(run)) > 0, tmp_path)
        provider.dead = frozenset({only.base_url})
        await only.__aexit__(None, None, None)
        done = await asyncio.wait_for(running, 20)
        await only.__aenter__()
    assert done.info.state == "partial"
    assert "ended early: engine ended while it was measured" in done.info.note
    assert told(done, "closed")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"recording": None}, "exactly one"), ({"task": "evict-one-late"}, "exactly one"), ({"agents": 0}, "1 to 512"),
        ({"laps": -1}, "0 or more"), ({"steps": 0}, "1 or more"), ({"arms": ()}, "one arm or more"),
        ({"arms": ("base", "base")}, "each once"), ({"recording": None, "task": "evict-one-late", "steps": 1}, "2 or"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(source: str, wrong: dict[str, Any], words: str):
    asked = {"profile": "cpu-smollm2", "recording": source, "arms": ("base",), **wrong}
    with pytest.raises(BadInput, match=words):
        LiveAsked(**asked).checked()


@pytest.mark.parametrize(
    ("wrong", "near"), [({"arms": ("prefx",)}, "prefix"), ({"recording": None, "task": "evict-late"}, "evict-one-late")]
)
def test_unknown_names_have_near_ones(source: str, wrong: dict[str, Any], near: str):
    with pytest.raises(UnknownName, match=near):
        LiveAsked(**{"profile": "cpu-smollm2", "recording": source, **wrong}).checked()
