"""Runs on a real fleet of fake engines: who shares an engine, what is ended, what a death leaves behind."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from labkit.analysis.starts import starts_of
from labkit.core.arms import Arm, arm_named
from labkit.core.errors import EngineDied
from labkit.core.progress import Progress
from labkit.engines.fleet import Fleet
from labkit.engines.plan import Plan, ProcessSpec
from labkit.engines.profiles import load_profile
from labkit.experiments.asked import Asked
from labkit.experiments.design import Design, Pass
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.runner import run_replay, starts
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, named, save

ARMS = [arm_named(label) for label in ("base", "prefix", "spec", "prefix+spec")]


UNLUCKY = """
import pathlib, subprocess, sys
tries, limit, argv = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
with tries.open("a") as file:
    print(argv[-1], file=file)
if len(tries.read_text().splitlines()) <= limit:
    sys.exit("OSError: [Errno 98] Address already in use")
sys.exit(subprocess.call(argv))
"""
"""A program that loses its port to somebody else the first so many times; keeps the ports that it was given."""


class FakePlans(FleetProvider):
    """The real provider, but for what a plan starts. Arms in `refusing` print words and exit.

    `unlucky`: how often a port is taken before the engine starts; `tries`: where its ports are kept.
    """

    refusing: tuple[str, ...] = ()
    dials: tuple[str, ...] = ()
    unlucky: int = 0
    tries: Path = Path()

    def fingerprint(self, arms: Sequence[Arm]) -> dict[str, object]:
        return {}  # fakes have no weights

    def plan(self, arm: Arm, spec_method: str | None = None) -> Plan:
        real = super().plan(arm)
        words = ("--refuse", "ValueError: this arm is not for you") if arm.label in self.refusing else self.dials
        speculation = ("--num-spec-tokens", "2") if arm.speculation else ()
        module = (sys.executable, "-m", "labkit.engines.fake", "--model", real.model, "--port", "{port:engine}")
        if self.unlucky:
            start = (sys.executable, "-c", UNLUCKY, str(self.tries), str(self.unlucky))
            module = (*start, *module)
        spec = ProcessSpec(role="engine", argv=(*module, *speculation, *words), env={})
        changed = {"layout": (spec,), "ports": {"engine": 1}, "fixed": (), "router_first": False, "max_startup_s": 20.0}
        return Plan(**{**real.__dict__, **changed})


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    fleet = Fleet(tmp_path / "state")
    yield fleet
    fleet.down()


@pytest.fixture
def provider(fleet: Fleet) -> FakePlans:
    return FakePlans(fleet, load_profile("cpu-smollm2"))


@pytest.fixture
def source(tmp_path: Path) -> str:
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"look at {turn} " * 20}],
            reply={"role": "assistant", "content": "ok"},
            request={"max_tokens": 3},
        )
        for turn in range(1, 4)
    )
    header = RecordingHeader(name="three", task="t", decided_by="scripted", model="fake", tools=[])
    return str(save(Recording(header=header, steps=steps), tmp_path / "three.jsonl"))


async def run(provider: FakePlans, source: str, root: Path, *arms: str, **more: object) -> Run:
    on_progress = more.pop("on_progress", lambda _: None)
    asked = Asked(profile="cpu-smollm2", recording=source, arms=arms, **more)
    return await run_replay("quick", asked, provider, store=RunStore(root), on_progress=on_progress)


def test_arms_that_differ_in_prefix_caching_alone_share_an_engine(fleet: Fleet, provider: FakePlans):
    starts = provider.starts(ARMS)
    assert [seconds > 0 for seconds in starts] == [True, False, True, False]
    strict = FleetProvider(fleet, load_profile("cpu-smollm2"), strict=True)
    assert all(seconds > 0 for seconds in strict.starts(ARMS))


async def test_one_engine_at_a_time_and_nothing_is_left(fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path):
    up = []

    def look(_: Progress) -> None:
        up.append(len([engine for engine in fleet.ps() if engine.alive]))

    done = await run(provider, source, tmp_path, "base", "prefix", "spec", on_progress=look)
    assert done.info.state == "done", done.info.note
    assert max(up) == 1
    assert fleet.ps() == []
    serving = [event for event in done.events() if event["type"] == "serving"]
    assert serving[0]["engine"] == serving[1]["engine"] != serving[2]["engine"]
    assert [event["switched_by"] for event in serving] == ["salt", "flag", "salt"]
    assert serving[0]["plan"]["layout"][0]["argv"][:3] == [sys.executable, "-m", "labkit.engines.fake"]
    assert len(done.logs()) == 2


async def test_keep_leaves_the_last_engine_and_the_next_run_uses_and_spares_it(
    fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path
):
    await run(provider, source, tmp_path, "base", "spec", keep=True)
    (kept,) = fleet.ps()
    again = FakePlans(fleet, load_profile("cpu-smollm2"))
    assert again.starts([arm_named("prefix+spec")]) == [0.0]
    done = await run(again, source, tmp_path, "prefix+spec", "base")
    assert [engine.id for engine in fleet.ps()] == [kept.id]
    serving = {event["arm"]: event for event in done.events() if event["type"] == "serving"}
    assert serving["prefix+spec"]["engine"] == kept.id
    assert serving["base"]["neighbours"] == [kept.id]
    assert not serving["prefix+spec"]["ours"]


async def test_in_random_order_every_block_has_a_start_of_its_own(
    fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path
):
    up = []

    def look(_: Progress) -> None:
        up.append(len([engine for engine in fleet.ps() if engine.alive]))

    arms = {"seed": 1, "repeats": 2, "drift_check": True, "on_progress": look}
    done = await run(provider, source, tmp_path, "base", "prefix", **arms)
    assert done.info.state == "done", done.info.note
    serving = [event for event in done.events() if event["type"] == "serving"]
    assert len({event["engine"] for event in serving}) == len(serving) == 5
    assert all(event["ours"] for event in serving)
    assert starts_of(done.steps()).fewest(["base", "prefix"], [0, 1]) == 2
    assert (max(up), fleet.ps()) == (1, [])
    kept = await run(provider, source, tmp_path, "base", "prefix", repeats=2)  # the quick look
    assert len({event["engine"] for event in kept.events() if event["type"] == "serving"}) == 1


async def test_an_engine_that_was_up_before_stays_and_it_is_said(
    fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path
):
    before = await fleet.up(provider.plan(arm_named("base")))
    done = await run(provider, source, tmp_path, "base", "spec", seed=1, repeats=2)
    assert [engine.id for engine in fleet.ps()] == [before.id]
    found = starts_of(done.steps())
    assert (found.of("base", [0, 1]), len(found.of("spec", [0, 1]))) == ({before.id}, 2)
    assert f"base: engine {before.id} is not this run's to end, so its blocks are one start of it." in done.info.note
    assert "spec: engine" not in done.info.note


def test_a_start_is_expected_before_every_block_that_gets_one(provider: FakePlans):
    base = [arm_named("base")] * 3
    assert [seconds > 0 for seconds in provider.starts(base)] == [True, False, False]
    assert [seconds > 0 for seconds in provider.starts(base, fresh=True)] == [True, True, True]
    asked = Asked(profile="cpu-smollm2", recording="night-shifts", arms=("base", "prefix"), repeats=2, seed=1)
    design = Design(tuple(asked.blocks()), lambda _: (Pass(recording=named("night-shifts")),), fresh_starts=True)
    assert [seconds > 0 for seconds in starts(design, provider)] == [True] * 4


async def test_a_refused_arm_says_what_the_engine_said(provider: FakePlans, source: str, tmp_path: Path):
    provider.refusing = ("spec",)
    done = await run(provider, source, tmp_path, "base", "spec")
    assert done.info.state == "partial"
    assert "this arm is not for you" in done.info.note
    (refused,) = (event for event in done.events() if event["type"] == "refused")
    assert "this arm is not for you" in refused["log_tail"][-1]


async def test_an_engine_that_is_killed_while_measured(fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path):
    provider.dials = ("--ttft-s", "0.2")

    def kill(progress: Progress) -> None:
        if progress.done == 1 and progress.stage == "measuring base":
            os.killpg(fleet.ps()[0].process("engine").pid, signal.SIGKILL)

    done = await run(provider, source, tmp_path, "base", "spec", on_progress=kill)
    (died,) = (event for event in done.events() if event["type"] == "engine_died")
    assert died["arm"] == "base"
    assert "fake engine at" in "\n".join(died["log_tail"])
    steps = done.steps()[~done.steps()["warmup"]]
    assert steps.groupby("arm")["error"].count().to_dict() == {"base": 1, "spec": 0}
    assert len(steps) == 2 + 3
    assert fleet.ps() == []


async def test_an_engine_that_is_ended_by_force_counts_as_dead(
    fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path
):
    provider.dials = ("--ttft-s", "0.2")

    def end(progress: Progress) -> None:
        if progress.done == 1 and progress.stage == "measuring base":
            fleet.down(force=True)

    done = await run(provider, source, tmp_path, "base", "prefix", on_progress=end)
    assert done.info.state == "partial", done.info.note
    (died,) = (event for event in done.events() if event["type"] == "engine_died")
    assert "was ended by somebody while it was measured" in died["message"]
    steps = done.steps()[~done.steps()["warmup"]]
    assert steps.groupby("arm")["error"].count().to_dict() == {"base": 1, "prefix": 0}
    assert fleet.ps() == []


async def test_an_engine_that_somebody_asked_for_meanwhile_is_spared(
    fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path
):
    served = await provider.serve(arm_named("base"))
    await fleet.up(provider.plan(arm_named("prefix")))
    await provider.serve(arm_named("spec"))
    assert await provider.close(keep=False) == [served.engine]
    assert [engine.id for engine in fleet.ps()] == [served.engine]


async def test_an_engine_that_another_run_holds_by_now_is_spared(fleet: Fleet, provider: FakePlans):
    served = await provider.serve(arm_named("base"))
    with fleet.lock(fleet.get(served.engine), "another run"):
        assert await provider.close(keep=False) == [served.engine]
    assert await provider.close(keep=False) == []


async def test_a_dead_engine_is_found_out(fleet: Fleet, provider: FakePlans):
    served = await provider.serve(arm_named("base"))
    provider.check(served)
    engine = fleet.get(served.engine)
    os.killpg(engine.process("engine").pid, signal.SIGKILL)
    for _ in range(200):
        if not engine.alive:
            break
        await asyncio.sleep(0.01)
    with pytest.raises(EngineDied, match=r"engine of .* ended"):
        provider.check(served)


async def test_a_port_that_was_taken_is_answered_with_another(
    fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path
):
    provider.unlucky, provider.tries = 2, tmp_path / "tries"
    done = await run(provider, source, tmp_path, "base", "prefix")
    assert done.info.state == "done"
    assert "base: its engine was started again with other ports" in done.info.note
    assert "prefix: its engine" not in done.info.note
    ports = provider.tries.read_text().split()
    assert len(ports) == len(set(ports)) == 3
    assert fleet.ps() == []


async def test_ports_that_are_taken_again_and_again_are_given_up(
    fleet: Fleet, provider: FakePlans, source: str, tmp_path: Path
):
    provider.unlucky, provider.tries = 99, tmp_path / "tries"
    done = await run(provider, source, tmp_path, "base", "prefix")
    assert done.info.state == "failed"
    assert "base, prefix not measured: a port of the engine process was taken" in done.info.note
    assert len(provider.tries.read_text().split()) == 3
    assert fleet.ps() == []
