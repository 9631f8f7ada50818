"""GPUs in a run, from a driver's stub to the run's files: columns, facts, and a fault that stops nothing."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from telemetry_stubs import amd_environment, in_a_process, nvml_folder, rocm_folder

from labkit.core.arms import arm_named
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.experiments.gpus_seen import gpus_event
from labkit.store.runs import Run, RunStore
from labkit.telemetry.devices import Unreadable
from labkit.telemetry.gpus.gpu import GpuFacts
from labkit.telemetry.gpus.source import GpuSource
from labkit.telemetry.gpus.visible import visible

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt-get install gcc")

ROLES = ("prefill", "decode")
FIRST, SECOND = "0000:05:00.0", "0000:0a:00.0"
RUN = """
import asyncio, functools
from pathlib import Path
from labkit.core.chat import ChatRequest
from labkit.core.clock import SystemClock
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments import sampling
from labkit.store.runs import RunStore
from labkit.telemetry.energy import gpus_alike

sampling.measure_at_rest = functools.partial(sampling.measure_at_rest, seconds=0.0)
processes = [{"role": "router", "env": {}}, {"role": "engine", "env": {"HIP_VISIBLE_DEVICES": "0"}}]
fingerprint = {"engines": {"key": {"processes": processes}}, "gpus": gpus_alike()}

async def main(folder):
    with RunStore(Path(folder)).create("quick", {}, fingerprint) as writer:
        async with FakeEngine(FakeDials(ttft_s=0.1)) as engine, EngineClient(engine.base_url, engine.model) as model:
            async with sampling.sampled(writer, SystemClock(), interval_s=0.1):
                for _ in range(6):
                    await model.chat(ChatRequest(messages=[{"role": "user", "content": "a" * 28}]))
        writer.finish("done")
    print(writer.id)

asyncio.run(main(FOLDER))
"""


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rocm_folder(tmp_path_factory.mktemp("rocm"))


def ran(folder: Path, **environment: str) -> Run:
    """A run over a fake engine, in a process of its own."""
    run = in_a_process(RUN.replace("FOLDER", repr(str(folder))), **environment)
    return RunStore(folder).open(run)


def events(run: Run, type: str) -> list[dict[str, Any]]:
    return [dict(event) for event in run.events() if event["type"] == type]


def series(run: Run, name: str) -> list[float | None]:
    samples = run.samples()
    values = samples[samples["name"] == name].sort_values("t")["value"]
    return [None if value != value else float(value) for value in values.astype("float64")]


@pytest.fixture(scope="module")
def mi300(tmp_path_factory: pytest.TempPathFactory, rocm: Path) -> Run:
    return ran(tmp_path_factory.mktemp("runs"), **amd_environment(rocm, "mi300"))


def test_columns_and_facts_of_two_mi300x(mi300: Run) -> None:
    run = mi300
    assert run.info.state == "done"
    busy = series(run, f"{SECOND}/gfx_busy")
    assert len(busy) >= 4
    assert set(busy) == {0.5}
    assert series(run, f"{FIRST}/vram_total") == [206_141_652_992] * len(busy)
    read = series(run, f"{FIRST}/link_read")
    assert read == [2800 * 1024 * (read[0] // (2800 * 1024) + n) for n in range(len(read))]
    assert set(run.samples()["source"]) >= {"host", "client", "amdsmi"}
    (event,) = events(run, "gpus")
    assert [(gpu["source"], gpu["bdf"], gpu["visible"]) for gpu in event["found"]] == [
        ("amdsmi", FIRST, False),
        ("amdsmi", SECOND, True),  # HIP's 0 is the second on the bus
    ]
    assert event["found"][0]["compute_partition"] == "SPX"
    assert event["unread"] == {}
    assert not {"uuids", "slow"} & set(event["found"][0])


def test_the_fingerprint_has_their_kind_and_number_and_nothing_that_names_them(mi300: Run) -> None:
    (kind,) = mi300.info.fingerprint["gpus"]
    assert (kind["count"], kind["device_id"], kind["memory_partition"]) == (2, "0x74a1", "NPS1")
    assert kind["driver"] == "6.14.14"
    assert not {"bdf", "name", "uuids", "indices"} & set(kind)


def test_one_that_falls_off_is_an_event_and_nulls_and_comes_back(tmp_path: Path, rocm: Path) -> None:
    run = ran(tmp_path, STUB_FALLS_AT="7", **amd_environment(rocm, "falls"))
    assert run.info.state == "done"
    assert set(series(run, f"{FIRST}/gfx_busy")) == {0.25}
    power = series(run, f"{SECOND}/power")
    assert None in power
    assert power[-1] == 200
    (fault,), (back,) = events(run, "telemetry_fault"), events(run, "telemetry_recovered")
    assert fault["source"] == "amdsmi"
    assert fault["error"] == back["after"] == f"{SECOND}: 12 | AMDSMI_STATUS_IO - I/O Error"


def test_no_permission_for_one_library_keeps_nobody_from_the_other(tmp_path: Path, rocm: Path) -> None:
    """Beside AMD GPUs that may not be read, two of NVIDIA without NVLink."""
    library = nvml_folder(tmp_path / "nvidia")
    run = ran(tmp_path / "runs", LD_LIBRARY_PATH=str(library), **amd_environment(rocm, "noperm"))
    assert run.info.state == "done"
    assert events(run, "telemetry_fault") == []
    (energy,), (gpus,) = events(run, "energy"), events(run, "gpus")
    assert "permission denied" in energy["unread"]["amdsmi"]
    assert [gpu["bdf"] for gpu in gpus["found"]] == ["0000:1b:00.0", "0000:43:00.0"]
    assert gpus["unread"] == {"nvml": dict.fromkeys(("hbm_temperature", "link_read", "link_written"), "Not Supported")}
    assert set(series(run, "gpu1/vram_used")) == {2e9}
    assert set(series(run, "gpu1/link_read")) == {None}


class Silent:
    """A GPU that lacks what it is told to lack."""

    wraps_at_j = None

    def __init__(self, name: str, unread: dict[str, str], dead: bool = False) -> None:
        self.facts, self.unread, self._dead = GpuFacts(name=name, indices=(int(name),)), unread, dead

    @property
    def name(self) -> str:
        return self.facts.name

    def look(self) -> None:
        if self._dead:
            raise Unreadable(f"{self.name}: gone")

    def energy_j(self) -> float | None:
        return None

    def power_w(self) -> float | None:
        return None

    def values(self) -> dict[str, float | None]:
        return {"hotspot": 50.0}


def test_a_reason_names_the_gpus_where_it_is_not_that_of_all() -> None:
    gpus = [Silent("0", {"hotspot": "N/A", "gfx_clock": "N/A"}), Silent("1", {"hotspot": "N/A"})]
    event = gpus_event([GpuSource("nvml", gpus)], {}, 1.0)
    assert event["unread"] == {"nvml": {"hotspot": "N/A", "gfx_clock": "0: N/A"}}
    assert [gpu["visible"] for gpu in event["found"]] == [None, None]
    assert "slow" not in event


async def test_a_slow_reading_is_said_with_its_seconds() -> None:
    source = GpuSource("nvml", [Silent("0", {})])
    await source.read()
    assert set(gpus_event([source], {}, interval_s=0.0)["slow"]) == {"nvml"}


def test_the_gpus_of_prefill_and_of_decode_are_those_of_the_plan() -> None:
    """Of a machine whose bus and HIP count alike; the router uses none."""
    plan = make_plan(load_profile("mi300x-8-qwen3-235b"), arm_named("pd"))
    eight = [GpuFacts(name=f"gpu{n}", indices=(n,)) for n in range(8)]
    used = {role: visible("amdsmi", eight, [each.env for each in plan.layout if each.role == role]) for role in ROLES}
    assert used == {"prefill": {f"gpu{n}" for n in range(4)}, "decode": {f"gpu{n}" for n in range(4, 8)}}
    processes = [process.to_dict() for process in plan.layout]
    source = GpuSource("amdsmi", [Silent(str(n), {}) for n in range(9)])
    found = gpus_event([source], {"engines": {plan.key: {"processes": processes}}}, 1.0)["found"]
    assert [gpu["visible"] for gpu in found] == [True] * 8 + [False]
