"""The environment in which the server must begin: libraries preloaded, OpenMP told its threads and cores.

libgomp reads GOMP_CPU_AFFINITY and OMP_NUM_THREADS when it is loaded and never again, so the process has to be
executed with them.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from labkit_vllm_cpu import switches

_MARK = "LABKIT_VLLM_CPU_PRELOADED"


def is_preloaded() -> bool:
    """Whether this process was executed with `preloaded_environment`."""
    return os.environ.get(_MARK) == "1"


def preloaded_environment() -> dict[str, str]:
    """os.environ plus what must be there from the first instruction on."""
    cores = switches.bound_cores()
    environment = dict(os.environ)
    environment[_MARK] = "1"
    environment[switches.ALLOWED] = ",".join(str(core) for core in sorted(os.sched_getaffinity(0)))
    environment["LD_PRELOAD"] = ":".join(str(path) for path in _libraries())
    environment["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"  # done here; vLLM would set variables that nobody reads again
    if cores:
        environment["GOMP_CPU_AFFINITY"] = " ".join(str(core) for core in cores)
        environment["OMP_NUM_THREADS"] = str(len(cores))
    return environment


def _libraries() -> list[Path]:
    """tcmalloc of the vLLM wheel and libgomp of the torch wheel: what vLLM's CPU platform would preload, as it does."""
    vllm, torch = _package("vllm"), _package("torch")
    tcmalloc = sorted(vllm.glob("libs/libtcmalloc_minimal*.so*"))
    gomp = sorted(torch.parent.glob("torch.libs/libgomp*.so*")) or sorted(torch.glob("lib/libgomp*.so*"))
    return [*tcmalloc[:1], *gomp[:1]]


def _package(name: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"labkit_vllm_cpu: the package {name} is not installed")
    return Path(spec.origin).parent
