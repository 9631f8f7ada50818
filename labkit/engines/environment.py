"""The environment that an engine process gets: what this process has, less what could change an arm, plus the plan's.

A stray VLLM_USE_V2_MODEL_RUNNER in somebody's shell must not make one arm differ from another.
"""

from __future__ import annotations

from collections.abc import Mapping

STEERING = (
    "VLLM_",
    "LABKIT_",
    "OMP_",
    "GOMP_",
    "KMP_",
    "MKL_",
    "NUMBA_",
    "UCX_",
    "NIXL_",
    "MORI_",
    "SGLANG_",
    "MC_",  # Mooncake
    "TORCH_",
    "TORCHINDUCTOR_",
    "ARCTIC_",
    "LD_PRELOAD",
    "MALLOC_",
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",  # every start would compile 5,000 modules again
    "PYTEST_",
    "HIP_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
)
"""Beginnings of the names of variables that an engine does not inherit."""


def engine_environment(inherited: Mapping[str, str], planned: Mapping[str, str]) -> dict[str, str]:
    """`inherited` without variables that steer an engine, then `planned`."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(STEERING)}
    return {**kept, **planned}
