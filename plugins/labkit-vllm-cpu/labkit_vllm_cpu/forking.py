"""Forking where vLLM spawns."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

from labkit_vllm_cpu import binding


def fork_instead_of_spawn() -> None:
    """From now on `multiprocessing.get_context("spawn")` forks, in this process and in its children."""
    original = multiprocessing.get_context

    def get_context(method: str | None = None) -> Any:
        return original("fork" if method == "spawn" else method)

    multiprocessing.get_context = get_context
    os.register_at_fork(before=_warn_about_threads, after_in_child=binding.after_fork_in_child)


def _warn_about_threads() -> None:
    """OpenMP's threads would not exist in the child and its first parallel loop would wait for them for ever."""
    if os.environ.get("LABKIT_VLLM_CPU_DEBUG"):
        names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
        print(f"[labkit_vllm_cpu] fork in {os.getpid()}: threads {names}", flush=True)
