"""Reading a GPU node from its files: trees that look like a sound one, and like each fault."""

from __future__ import annotations

import os
import shutil
import sys
import types
from pathlib import Path

import pytest
from unit.doctor import trees

from labkit.doctor.node import nvml
from labkit.doctor.node.reading import node
from labkit.doctor.node.system import limits


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(sys.modules, "pynvml", None)  # this machine's own GPUs, if it has any, are not the tree's
    trees.node_of_eight(tmp_path)
    return tmp_path


def read(root: Path, environ: dict[str, str] | None = None, engines: dict[int, str] | None = None):
    return node(engines, roots=trees.roots(root), environ=environ or {})


def test_a_sound_node_is_read_whole(root: Path) -> None:
    seen = read(root)
    assert [gpu.device_id for gpu in seen.of("amd")] == ["0x74a1"] * 8
    assert seen.gpus[3].bdf == "0000:03:00.0"
    assert {(gpu.compute, gpu.memory, gpu.vram_total) for gpu in seen.gpus} == {("SPX", "NPS1", 192 << 30)}
    assert (seen.driver.amdgpu, seen.driver.rocm, seen.driver.kfd) == ("6.14.14", "7.0.0", True)
    assert seen.driver.computing == ("gfx942",) * 8
    assert [Path(file.path).name for file in seen.files] == ["kfd", "renderD128", "renderD129"]
    assert all(file.usable for file in seen.files)
    assert seen.rdma == (("mlx5_0", True), ("mlx5_1", False))
    assert (seen.numa_balancing, seen.users, seen.variables, dict(seen.ignored)) == (1, (), {}, {})


def test_what_is_missing_is_not_there_rather_than_an_error(root: Path) -> None:
    shutil.rmtree(root / "sys")
    shutil.rmtree(root / "dev")
    (root / "proc" / "sys" / "kernel" / "numa_balancing").unlink()
    seen = read(root)
    assert (seen.gpus, seen.files, seen.rdma, seen.numa_balancing) == ((), (), (), None)
    assert (seen.driver.amdgpu, seen.driver.kfd, seen.driver.computing) == (None, False, ())


def test_a_module_of_the_kernel_itself_has_no_version(root: Path) -> None:
    (root / "sys" / "module" / "amdgpu" / "version").unlink()
    assert read(root).driver.amdgpu == ""


def test_partitions_are_more_devices_than_gpus(root: Path) -> None:
    trees.mi300x(root, 0, compute="CPX", memory="NPS4")
    for number in range(10, 17):
        trees.kfd_node(root, number, 152, 90402)
    seen = read(root)
    assert (seen.gpus[0].compute, seen.gpus[0].memory, seen.gpus[1].compute) == ("CPX", "NPS4", "SPX")
    assert (len(seen.gpus), len(seen.driver.computing)) == (8, 15)


@pytest.mark.parametrize(
    ("version", "name"), [(90402, "gfx942"), (90010, "gfx90a"), (90500, "gfx950"), (110000, "gfx1100")]
)
def test_a_gfx_name_is_its_number_with_a_stepping_in_hex(root: Path, version: int, name: str) -> None:
    trees.kfd_node(root, 2, 1216, version)
    assert read(root).driver.computing[0] == name


def test_who_holds_memory_is_named_and_an_engine_of_ours_with_it(root: Path) -> None:
    trees.mi300x(root, 5, used=90 << 30)
    trees.user(root, os.getpid(), "python3.12", 90 << 30)
    trees.user(root, 4_000_000, "another", 5)
    trees.user(root, 4_000_001, "idle", 0)
    ours, stranger = read(root, engines={os.getsid(0): "all.1"}).users
    assert (ours.pid, ours.name, ours.vram, ours.engine) == (os.getpid(), "python3.12", 90 << 30, "all.1")
    assert (stranger.pid, stranger.name, stranger.engine) == (4_000_000, "another", "")
    assert read(root).gpus[5].vram_used == 90 << 30


def test_files_that_this_user_may_not_open(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: "kfd" not in str(path))  # root may open everything
    assert [file.usable for file in read(root).files] == [False, True, True]


def test_variables_that_choose_gpus_and_old_ones_of_moriio(root: Path) -> None:
    environ = {
        "HIP_VISIBLE_DEVICES": "0,1",
        "CUDA_VISIBLE_DEVICES": "",
        "VLLM_MORIIO_CONNECTOR_READ_MODE": "1",
        "A": "b",
    }
    seen = read(root, environ)
    assert seen.variables == {"HIP_VISIBLE_DEVICES": "0,1"}
    assert list(seen.ignored) == ["VLLM_MORIIO_CONNECTOR_READ_MODE"]
    assert "read_mode" in seen.ignored["VLLM_MORIIO_CONNECTOR_READ_MODE"]


def test_limits_are_of_this_process() -> None:
    import resource

    said, hard = limits(), resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert said.files == (1 << 30 if hard == resource.RLIM_INFINITY else hard)


class _Error(Exception):
    pass


def fake_nvml(**changes: object) -> types.ModuleType:
    """A library with one H200, in the shape of nvidia-ml-py."""
    module = types.ModuleType("pynvml")
    used = types.SimpleNamespace(pid=4_000_000, usedGpuMemory=60 << 30)
    told = {
        "NVMLError": _Error,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda n: n,
        "nvmlSystemGetDriverVersion": lambda: b"570.86.10",
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 12080,
        "nvmlDeviceGetPciInfo": lambda h: types.SimpleNamespace(busId="00000000:18:00.0", pciDeviceId=0x233510DE),
        "nvmlDeviceGetMemoryInfo": lambda h: types.SimpleNamespace(total=140 << 30, used=60 << 30),
        "nvmlDeviceGetName": lambda h: "NVIDIA H200",
        "nvmlDeviceGetComputeRunningProcesses": lambda h: [used],
        **changes,
    }
    vars(module).update(told)
    return module


def test_nvml_tells_what_the_bus_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml())
    trees.pci(tmp_path, "0000:18:00.0", "0x10de", "0x2335", "0x030200")
    trees.pci(tmp_path, "0000:19:00.0", "0x10de", "0x2335", "0x030200")  # the bus has one that this container has not
    seen = read(tmp_path)
    (gpu,) = seen.of("nvidia")
    assert (gpu.name, gpu.device_id, gpu.bdf) == ("NVIDIA H200", "0x2335", "0000:18:00.0")
    assert (gpu.vram_total, gpu.vram_used) == (140 << 30, 60 << 30)
    assert (seen.driver.nvidia, seen.driver.cuda) == ("570.86.10", "12.8")
    assert [(user.pid, user.vram) for user in seen.users] == [(4_000_000, 60 << 30)]


def test_without_its_driver_the_bus_speaks_for_nvidia_and_nvml_is_shut_down(tmp_path, monkeypatch) -> None:
    closed = []

    def no_driver() -> None:
        raise _Error("no driver")

    trees.pci(tmp_path, "0000:18:00.0", "0x10de", "0x2335", "0x030200")
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(nvmlInit=no_driver))
    seen = read(tmp_path)
    assert ([gpu.device_id for gpu in seen.gpus], seen.driver.nvidia) == (["0x2335"], None)
    monkeypatch.setitem(
        sys.modules, "pynvml", fake_nvml(nvmlDeviceGetCount=no_driver, nvmlShutdown=lambda: closed.append(1))
    )
    assert nvml.told(trees.roots(tmp_path)) == nvml.Told()
    assert closed == [1]
