"""What a run says of its machine's GPUs in its event `gpus`: which they are, which it uses, what is unread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labkit.telemetry.gpus.source import GpuSource
from labkit.telemetry.gpus.visible import visible

_WITHOUT_GPU = "router"


def gpus_event(sources: Sequence[GpuSource], fingerprint: Mapping[str, Any], interval_s: float) -> dict[str, Any]:
    """`found`: one entry a GPU; `unread`: by library and series, why it is null; `slow`: seconds of a slow reading.

    Each GPU is read, all are paid for: `visible` says whether a process of the run's engines can use it, null where the
    run has no engine of which the lab knows the environment.
    """
    environments = _environments(fingerprint)
    found = [entry for source in sources for entry in _found(source, environments)]
    unread = {source.name: said for source in sources if (said := _unread(source))}
    slow = {source.name: round(source.slowest_s, 3) for source in sources if source.slowest_s > interval_s}
    return {"found": found, "unread": unread, **({"slow": slow} if slow else {})}


def _environments(fingerprint: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Of every process that may use a GPU, in any of the run's plans."""
    engines = (fingerprint.get("engines") or {}).values()
    processes = [process for engine in engines for process in engine.get("processes") or ()]
    return [each.get("env") or {} for each in processes if not str(each.get("role")).startswith(_WITHOUT_GPU)]


def _found(source: GpuSource, environments: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    facts = [gpu.facts for gpu in source.gpus]
    used = visible(source.name, facts, environments) if environments else None
    return [
        {"source": source.name, **each.told(), "visible": None if used is None else each.name in used} for each in facts
    ]


def _unread(source: GpuSource) -> dict[str, str]:
    """One reason a series; with the names of the GPUs where it is not that of all."""
    by_series: dict[str, dict[str, list[str]]] = {}
    for gpu in source.gpus:
        for what, why in gpu.unread.items():
            by_series.setdefault(what, {}).setdefault(why, []).append(gpu.name)
    return {
        what: "; ".join(_reason(why, names, source) for why, names in said.items()) for what, said in by_series.items()
    }


def _reason(why: str, names: Sequence[str], source: GpuSource) -> str:
    return why if len(names) == len(source.gpus) else f"{', '.join(names)}: {why}"
