"""How many bytes a model's weights are: the files where they are here, else what its name says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BILLIONS = re.compile(r"(?<![A-Za-z\d.])(\d+(?:\.\d+)?)B(?![A-Za-z])", re.IGNORECASE)
"""`235B` of `Qwen3-235B-A22B`, not `A22B`: all experts lie in memory, whichever are active."""
_MILLIONS = re.compile(r"(?<![A-Za-z\d.])(\d+(?:\.\d+)?)M(?![A-Za-z])", re.IGNORECASE)
_WIDTHS = ((re.compile(r"fp8|int8|w8a8", re.IGNORECASE), 1.0), (re.compile(r"[a-z]*4bit|awq|gptq|fp4", re.I), 0.5))


@dataclass(frozen=True, kw_only=True)
class ModelSize:
    """`size`: bytes; `how`: where the number comes from, in words."""

    size: int
    how: str


def model_size(name: str, folder: Path | None, flags: Mapping[str, Any]) -> ModelSize | None:
    """Of `owner/name` or a path. `folder`: where its files are, None: not here. The answer None: nobody can tell."""
    files = sum(file.stat().st_size for file in folder.glob("*.safetensors")) if folder else 0
    if files:
        return ModelSize(size=files, how="its files")
    return from_name(name, flags)


def from_name(name: str, flags: Mapping[str, Any]) -> ModelSize | None:
    """Parameters in the name times the bytes of the number format that it names (two, for bfloat16, if none)."""
    parameters = _parameters(name.rsplit("/", 1)[-1])
    if parameters is None:
        return None
    width = next((bytes_ for words, bytes_ in _WIDTHS if words.search(name)), 4.0 if _float32(flags) else 2.0)
    size = int(parameters * width)
    return ModelSize(size=size, how=f"by its name: {parameters / 1e9:g} billion parameters x {width:g} bytes")


def _parameters(name: str) -> float | None:
    for pattern, unit in ((_BILLIONS, 1e9), (_MILLIONS, 1e6)):
        if found := pattern.search(name):
            return float(found[1]) * unit
    return None


def _float32(flags: Mapping[str, Any]) -> bool:
    return flags.get("dtype") in ("float32", "float")
