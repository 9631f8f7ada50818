"""What the two halves of a split compute on, read from a run's fingerprint: whether the split may win there.

A half's cores or GPUs stand in its environment, as the plan set them. Halves that share cores take them from each
other: prefill has fewer than an undivided engine, and what it computes for one agent slows decode for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labkit.experiments.report.english import counted, listed

_CORES = ("LABKIT_VLLM_CPU_BIND", "VLLM_CPU_OMP_THREADS_BIND")
_GPUS = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


@dataclass(frozen=True, kw_only=True)
class Halves:
    """`unit`: core or GPU. What each half computes on, as the plan named them."""

    unit: str
    prefill: tuple[str, ...]
    decode: tuple[str, ...]

    @property
    def shared(self) -> bool:
        return bool(set(self.prefill) & set(self.decode))

    @property
    def all(self) -> int:
        """How many there are in all: what an undivided engine computes with."""
        return len({*self.prefill, *self.decode})


def halves(fingerprint: Mapping[str, Any]) -> Halves | None:
    """Of the first split engine that a run had; None where there was none, or it does not say what it computed on."""
    for processes in engines_of(fingerprint):
        roles = {each.get("role"): each.get("env") or {} for each in processes}
        if {"prefill", "decode"} <= roles.keys():
            for unit, names in (("GPU", _GPUS), ("core", _CORES)):
                prefill, decode = (_named(roles[role], names) for role in ("prefill", "decode"))
                if prefill and decode:
                    return Halves(unit=unit, prefill=prefill, decode=decode)
    return None


def engines_of(fingerprint: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """The processes of each engine of a run; of an engine that was attached by its address none are known."""
    for engine in (fingerprint.get("engines") or {}).values():
        if isinstance(engine, dict):
            yield list(engine.get("processes") or ())


def verdict(found: Halves | None) -> str:
    """Why the split is not expected to win on these halves; empty where it may, and where it is not known."""
    if found is None or (found.unit == "GPU" and not found.shared):
        return ""
    fewer = f"prefill has {counted(len(found.prefill), found.unit)} where an undivided engine has {found.all}"
    if not found.shared:
        return f"The split is not expected to win on this machine: {fewer}, so that the first token should come later."
    same = listed(sorted(set(found.prefill) & set(found.decode)))
    return (
        f"The split is not expected to win on this machine: {fewer}, and {_shared(found.unit, same)} decode's as well, "
        "so that prefill for one agent slows the words of another. Its transfers and failures are real, and what its "
        "detour costs; whether it pays is a question for hardware of which each half has its own."
    )


def where(found: Halves | None) -> str:
    """`prefill on core 0; decode on cores 1 and 0`; empty where not known."""
    if found is None:
        return ""
    return "; ".join(
        f"{role} on {found.unit}{'s' if len(names) > 1 else ''} {listed(names)}"
        for role, names in (("prefill", found.prefill), ("decode", found.decode))
    )


def _shared(unit: str, names: str) -> str:
    return f"{unit}s {names} are" if " and " in names else f"{unit} {names} is"


def _named(env: Mapping[str, str], names: tuple[str, ...]) -> tuple[str, ...]:
    """`1,0` and `0-3` as names, in their order."""
    text = next((env[name] for name in names if env.get(name)), "")
    return tuple(one for part in text.split(",") if part for one in _range(part.strip()))


def _range(part: str) -> list[str]:
    first, dash, last = part.partition("-")
    if dash and first.isdigit() and last.isdigit():
        return [str(n) for n in range(int(first), int(last) + 1)]
    return [part]
