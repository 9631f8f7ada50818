"""What the Engines page says, over real processes: the fake vLLM as the fleet starts it, and tiny servers."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake_vllm
import pytest
from unit.engines.plans import plan_of, tiny

from labkit.core.arms import ARMS, arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.plan_records import Plan
from labkit.engines.profiles import list_profiles, load_profile
from labkit.engines.registry import Engine, Registry
from labkit.engines.starting import this_process
from labkit.experiments import ending, warm
from labkit.experiments.dashboard.engines.cards import FleetView
from labkit.experiments.dashboard.engines.fleet import fleet_view
from labkit.experiments.dashboard.engines.load import Loads
from labkit.experiments.dashboard.engines.logs import level_of, log_sources, log_view, refused_start
from labkit.experiments.dashboard.engines.memory import memory_of, room_for
from labkit.experiments.dashboard.engines.plans import diff_view, methods_of, plan_view
from labkit.experiments.dashboard.engines.words import diff_text, port_table, process_table, summary
from labkit.experiments.fleet_provider import FleetProvider
from labkit.store.runs import RunStore

PLANTED = "e.1"


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for variable in ("RUNS", "STATE"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    fleet = Fleet()
    yield fleet
    for engine in fleet.ps():
        if engine.id == PLANTED:  # its process is this one
            Registry(fleet.state_dir).forget(engine)
    fleet.down(force=True)


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    made, path = fake_vllm.install(tmp_path / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    return str(made)


def seen(fleet: Fleet, *profiles: str, loads: Loads | None = None) -> FleetView:
    return fleet_view(fleet, profiles, loads or Loads())


def planned(fleet: Fleet, profile: str, arm: str) -> Plan:
    return FleetProvider(fleet, load_profile(profile)).plan(arm_named(arm))


def until(happened, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def registered(fleet: Fleet, *, ready: bool = True, **of_plan: object) -> Engine:
    """An engine whose one process is this one."""
    plan = plan_of(tiny("engine"), **of_plan)
    me = dataclasses.replace(this_process(), role="engine", port=8201)
    engine = Engine(id=PLANTED, plan=plan, processes=(me,), owner=this_process(), ready=ready)
    Registry(fleet.state_dir).write(engine)
    return engine


def test_an_empty_fleet(fleet: Fleet, profile: str) -> None:
    assert seen(fleet, profile) == FleetView(cards=(), pending=(), refused=())
    assert summary(seen(fleet)) == ""


async def test_a_real_engine_is_shown_with_what_it_takes_and_who_shares_it(fleet: Fleet, profile: str) -> None:
    engine, loads = await fleet.up(planned(fleet, profile, "prefix")), Loads()
    seen(fleet, profile, loads=loads)
    await asyncio.sleep(1.1)
    (card,) = seen(fleet, profile, loads=loads).cards
    assert (card.state, card.words, card.kept, card.share) == ("up", "up and free", "", None)
    assert card.address == f"{engine.base_url}/v1"
    assert card.serves == "serves base and prefix: base by a fresh cache_salt on every request"
    (process,) = card.processes
    assert (process.pid, process.port, process.alive) == (engine.processes[0].pid, engine.plan.entry.port, True)
    assert process.rss is not None
    assert process.rss > 10 << 20
    assert process.cores is not None
    assert 0 <= process.cores < 1.5
    assert f"| engine | {process.pid} | {process.port} |" in process_table(card)
    assert 0 <= card.age_s < 60


async def test_a_held_engine_names_its_run_and_is_kept(fleet: Fleet, profile: str) -> None:
    engine = await fleet.up(planned(fleet, profile, "spec"))
    with RunStore().create("quick", {}, {}) as run:
        with fleet.lock(engine, run.id):
            (card,) = seen(fleet, profile).cards
            assert (card.state, card.holder, card.holder_run) == ("held", run.id, run.id)
            assert card.kept == f"{run.id} holds it: stop that run first."
            assert not seen(fleet, profile).endable
            ending.end(engine.id)  # it was asked for in the moment before: the engine stays, and it is said why
            until(lambda: not ending.is_ending(engine.id))
            assert f"is held by {run.id}" in seen(fleet, profile).cards[0].trouble
        run.finish("done", "")
    with fleet.lock(engine, "somebody else"):
        assert seen(fleet, profile).cards[0].holder_run is None
    assert engine.alive


def test_a_start_says_how_far_it_is_of_what_it_takes(fleet: Fleet) -> None:
    registered(fleet, ready=False, expected_start_s=1e9)
    (card,) = seen(fleet).cards
    assert card.state == "starting"
    assert card.words.startswith("starting (")
    assert card.words.endswith(" s of ~1000000000 s)")
    assert 0 <= card.share < 0.01


def test_a_start_that_takes_far_too_long_says_so(fleet: Fleet) -> None:
    registered(fleet, ready=False, expected_start_s=1e-6)
    (card,) = seen(fleet).cards
    assert "far longer than usual here" in card.words
    assert card.share == 1.0


async def test_a_dead_engine_names_the_process_that_ended(fleet: Fleet) -> None:
    engine = await fleet.up(plan_of(tiny("prefill"), tiny("decode")))
    os.kill(engine.process("decode").pid, signal.SIGKILL)
    until(lambda: not engine.alive)
    view = seen(fleet)
    assert (view.cards[0].state, view.cards[0].words) == ("dead", "dead: decode ended; its log says why")
    assert view.cards[0].processes[1].rss is None
    assert "decode (ended)" in process_table(view.cards[0])
    assert view.remains == view.cards


def test_an_engine_of_a_killed_run_says_whose_it_was_and_that_anybody_may_end_it(fleet: Fleet) -> None:
    program = (
        "import asyncio, os, signal\n"
        "from labkit.engines.fleet import Fleet\n"
        "from labkit.store.runs import RunStore\n"
        "from unit.engines.plans import plan_of, tiny\n"
        "print(RunStore().create('quick', {}, {}).id, flush=True)\n"
        "asyncio.run(Fleet().up(plan_of(tiny('engine')), adopt=False))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    view = seen(fleet)
    (card,) = view.cards
    assert card.state == "left"
    assert card.words == f"up, but run {said.stdout.strip()} is gone: nobody uses it, and anybody may end it"
    assert view.remains == (card,)
    with fleet.lock(fleet.get(card.id), "run 7"):
        assert seen(fleet).cards[0].words.endswith("is gone: run 7 uses it now")
        assert seen(fleet).remains == ()
    ending.end(card.id)
    assert seen(fleet).cards[0].state == "ending"
    until(lambda: not fleet.ps() and not ending.is_ending(card.id))


async def test_ending_all_spares_what_is_held(fleet: Fleet) -> None:
    held = await fleet.up(plan_of(tiny("engine")))
    free = await fleet.up(plan_of(tiny("engine", "--slow", "0.1")))
    with fleet.lock(held, "run 7"):
        assert ending.end_free() == [free.id]
        until(lambda: len(fleet.ps()) == 1)
    assert [engine.id for engine in fleet.ps()] == [held.id]


def test_a_start_from_the_page_is_followed_and_a_refusal_is_told_once_with_its_log(fleet: Fleet, profile: str) -> None:
    program = Path(profile).parent / "bin" / "vllm"
    program.write_text("#!/bin/sh\nsleep 0.5; echo 'ValueError: no such device' >&2\nexit 1\n")
    warm.warm(profile, "base")
    until(lambda: seen(fleet, profile).pending or seen(fleet, profile).cards)
    until(lambda: seen(fleet, profile).refused)
    (refused,) = seen(fleet, profile).refused  # base and prefix would share the engine, and its refusal
    assert refused.arm == "base"
    assert "no such device" in refused.words
    assert refused.ago.endswith("s ago")
    assert "no such device" in "\n".join(refused_start(profile, "prefix").lines)
    sources = log_sources(fleet)
    (source,) = [source for source in sources.values() if source.ended]
    assert source.label.startswith("ended or refused")
    assert log_view(source.roles["engine"]).lines == ("ValueError: no such device",)


async def test_logs_of_what_is_up_come_first_and_are_bounded(fleet: Fleet) -> None:
    ended = await fleet.up(plan_of(tiny("engine")))
    fleet.down(ended.id)
    engine = await fleet.up(plan_of(tiny("prefill"), tiny("decode")))
    sources = log_sources(fleet)
    assert list(sources) == [engine.id, ended.id]
    assert set(sources[engine.id].roles) == {"prefill", "decode"}
    log = Path(sources[engine.id].roles["decode"])
    log.write_text("".join(f"INFO line {n}\n" for n in range(100_000)) + "x" * 5000 + "\n")
    view = log_view(str(log), lines=50)
    assert len(view.lines) == 50
    assert view.lines[-2] == "INFO line 99999"
    assert len(view.lines[-1]) == 602
    assert "the file has 1.5 MiB" in view.words
    assert len(log_view(str(log), lines=10**6).lines) == 1000
    assert log_view(str(log.with_name("none.log"))).words == "The file is empty, or it is not there yet."


def test_a_filter_keeps_the_traceback_of_an_error(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text(
        "INFO 11-30 [a.py:1] started; beware of OSError: too many files\n"
        "WARNING 11-30 [b.py:2] slow\n"
        "Traceback (most recent call last):\n"
        '  File "c.py", line 3, in f\n'
        "ValueError: no\n"
        "INFO done\n"
    )
    assert log_view(str(log), levels=("error",)).lines == (
        "Traceback (most recent call last):", '  File "c.py", line 3, in f', "ValueError: no",
    )  # fmt: skip
    view = log_view(str(log), levels=("error", "warning"))
    assert (len(view.lines), view.errors, view.warnings) == (4, 3, 1)
    assert [level_of(line) for line in ("E1130 12:00 bad", "UserWarning: old", "all fine")] == [
        "error",
        "warning",
        "other",
    ]


@pytest.mark.parametrize("profile_name", list_profiles())
def test_every_shipped_profile_has_plans_that_differ_by_their_layers_alone(profile_name: str) -> None:
    for arm in ARMS:
        view = plan_view(profile_name, arm.label)
        assert [process.role for process in view.processes][-1] in ("engine", "router")
        assert all("--port" in process.command and "{" + "port" not in process.command for process in view.processes)
        found = diff_view(profile_name, arm.label, "base")
        assert found.fair, found.words
        assert bool(found.rows) == (arm.label != "base")
        assert view.command == f"labkit plan --profile {profile_name} --arm {arm.label}"


def test_a_plan_can_be_pasted_and_a_diff_read(fleet: Fleet) -> None:
    view = plan_view("mi300x-8-qwen3-235b", "pd", "ngram", salted=True)
    assert "HIP_VISIBLE_DEVICES=0,1,2,3 \\\n" in view.processes[0].command
    assert "vllm serve" in view.processes[0].command
    assert "| router | 8300 |" in port_table(view)
    assert "cache_salt" in view.note
    assert view.command.endswith("--arm pd --spec-method ngram --salted")
    found = diff_view("cpu-smollm2", "prefix", "base")
    assert found.words == "Only prefix caching differs: every other option and variable is the same."
    assert diff_text(found).splitlines() == [
        "--- base", "+++ prefix", "@@ engine @@", "- --no-enable-prefix-caching set", "+ --enable-prefix-caching set",
    ]  # fmt: skip
    assert diff_view("cpu-smollm2", "prefix", "base", salted=True).words.startswith(
        "base and prefix are the same engine"
    )
    assert next(iter(methods_of("cpu-smollm2"))) == "ngram"


def test_a_profile_that_changes_more_than_a_layer_is_called_at_fault(profile: str) -> None:
    text = Path(profile).read_text()
    Path(profile).write_text(
        text.replace("on = { enable-prefix-caching = true }", "on = { enable-prefix-caching = true, block-size = 64 }")
    )
    found = diff_view(profile, "prefix", "base")
    assert not found.fair
    assert found.words == "Beside prefix caching, this differs: --block-size. That is a fault of the profile."


async def test_memory_is_that_of_the_machine_and_of_what_is_up(fleet: Fleet, profile: str) -> None:
    await fleet.up(planned(fleet, profile, "prefix"))
    info = memory_of(fleet, profile, seen(fleet, profile).cards)
    assert info.total > info.used > 0
    assert [each.arm for each in info.taken] == ["prefix"]
    assert info.taken[0].taken > 10 << 20
    assert (info.wanted[0].arms, info.wanted[0].there) == (("base", "prefix"), "up")
    assert room_for(fleet, profile, "all") == ""
    assert room_for(fleet, "mi300x-8-qwen3-235b", "all").startswith("It needs 128.2 GiB, and ")
