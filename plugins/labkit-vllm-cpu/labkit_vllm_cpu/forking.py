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
    os.register_at_fork(before=_show_threads, after_in_child=binding.after_fork_in_child)


def _show_threads() -> None:
    """For debugging: an OpenMP thread here would be missing in the child, whose first loop would wait for it."""
    if os.environ.get("LABKIT_VLLM_CPU_DEBUG"):
        names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
        print(f"[labkit_vllm_cpu] fork in {os.getpid()}: threads {names}", flush=True)
