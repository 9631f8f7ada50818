"""One short process of the engine's Python: its version, and which packages with which build it would import."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labkit.core.errors import EngineError
from labkit.core.records import Record
from labkit.engines.environment import engine_environment

LIMIT_S = 10.0
"""It takes a tenth of a second; more where the packages are on a network disk that is cold."""
_INSIDE = Path(__file__).with_name("inside.py")


@dataclass(frozen=True, kw_only=True)
class Installation(Record):
    """One Python and what it would import.

    `packages`: distribution to version; `modules`: importable ones of those that matter. `torch`: `cuda` or `hip` to
    the version that torch was built for; `kernels`: vLLM's compiled modules (`_rocm_C`). `libc`: `glibc 2.35`.
    """

    executable: str
    python: str
    libc: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    torch: Mapping[str, str] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()


def installation(python: str, limit_s: float = LIMIT_S) -> Installation:
    """What this interpreter has. Raises EngineError when it does not start, or does not answer in `limit_s` seconds."""
    env = engine_environment(os.environ, {"PYTHONDONTWRITEBYTECODE": "1"})
    try:
        done = subprocess.run(
            [python, str(_INSIDE)], env=env, capture_output=True, text=True, timeout=limit_s, check=True
        )
        told = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise EngineError(
            f"{python} does not say what it has: {_said(error)}", f"Run it: {python} {_INSIDE}"
        ) from error
    lists = {name: tuple(told[name]) for name in ("modules", "kernels")}
    return Installation(**{**told, **lists})


def _said(error: Exception) -> str:
    lines = str(getattr(error, "stderr", "") or error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
