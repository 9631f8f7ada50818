"""Would the weights fit the GPUs? Arithmetic on what is known before a start; vLLM's own profiling decides.

weights / GPUs of one engine (+ its KV cache where the profile states it in bytes) <= VRAM x gpu-memory-utilization
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Status

_GIB = 1 << 30
_VLLMS_SHARE = 0.92


def gpu_memory(facts: Facts) -> list[Check]:
    """The plan's share of each GPU against the weights that must lie in it."""
    groups = facts.profile.engine.gpus
    if facts.profile.machine.vendor == "cpu" or not groups:
        return []
    status, found = _judged(facts, groups)
    fault = status == "fail"
    return [
        Check(
            name="GPU memory",
            area="memory",
            status=status,
            found=found,
            why="What the weights leave of an engine's share is its KV cache. This is arithmetic: drafters, "
            "activations and graphs come on top, and vLLM's own profiling at the start decides.",
            todo="Split the model over more GPUs, take a smaller one, or GPUs with more memory." if fault else "",
            command=f"labkit plan --profile {facts.profile.name}" if fault else "",
        )
    ]


def _judged(facts: Facts, groups: Sequence[Sequence[int]]) -> tuple[Status, str]:
    size = facts.weights.size
    vram = min((gpu.vram_total for gpu in facts.node.of(facts.profile.machine.vendor) if gpu.vram_total), default=None)
    if size is None:
        return "unknown", "nobody can tell how large the weights are"
    width = min(map(len, groups))
    need, kv = size.size / width, _kv_bytes(facts)
    words = f"weights {_gib(size.size)} ({size.how}) / {width} GPU{'s' * (width != 1)} = {_gib(need)} on each"
    words += f" + {_gib(kv)} of KV cache" if kv else ""
    if vram is None:
        return "unknown", f"{words}; how much memory a GPU has is not known here"
    share, beside = _share(facts), max(Counter(gpu for group in groups for gpu in group).values())
    room = vram * share
    words += f"; room: {_gib(vram)} x {share:g} = {_gib(room)}" + (
        f" for each of {beside} engines" if beside > 1 else ""
    )
    return ("fail" if need + kv > room or share * beside > 1 else "ok"), words


def _kv_bytes(facts: Facts) -> float:
    said = facts.profile.engine.flags.get("kv-cache-memory-bytes", 0)
    return float(said) if isinstance(said, int | float) else 0.0


def _share(facts: Facts) -> float:
    flags = facts.profile.engine.flags
    return float(str(flags.get("gpu-memory-utilization", flags.get("mem-fraction-static", _VLLMS_SHARE))))


def _gib(size: float) -> str:
    return f"{size / _GIB:.1f} GiB"
