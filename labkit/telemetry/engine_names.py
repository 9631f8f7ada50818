"""Which engine a page is of, and so what its series mean: chosen by what the page holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from labkit.telemetry import names
from labkit.telemetry.series import EngineNames
from labkit.telemetry.sglang_names import SGLANG

VLLM: Final = EngineNames(
    prefix="vllm:",
    counts=names.COUNTS,
    times=names.TIMES,
    running=names.GAUGES[0],
    waiting=names.GAUGES[1],
    kv_usage=names.GAUGES[2],
    per_position=names.ACCEPTED_PER_POSITION,
)
ENGINES: Final = (VLLM, SGLANG)
KV_USAGES: Final = frozenset(engine.kv_usage.name for engine in ENGINES)
"""How full the KV cache is, 0 to 1, as the samples of any engine name it. Also averaged over the ranks of a page."""


def names_of(series: Iterable[str]) -> EngineNames:
    """The engine whose series these are; vLLM's names where they are nobody's."""
    found = {name.split(":", 1)[0] for name in series if ":" in name}
    return next((engine for engine in ENGINES if engine.prefix.removesuffix(":") in found), VLLM)
