"""Are the programs of a plan on this machine? Asked first of all: without them nothing else matters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from labkit.core.errors import EngineError
from labkit.engines.environment import engine_environment
from labkit.engines.plan_records import Plan, ProcessSpec

_FIND = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
_ELSEWHERE = "or take the profile that runs anywhere: --profile cpu-smollm2."


def require_programs(plan: Plan) -> None:
    """Raises EngineError, naming it, when a program that the plan runs, or a module of another Python, is not there."""
    for process in plan.layout:
        program = process.argv[0]
        env = engine_environment(os.environ, process.env)
        found = shutil.which(program, path=env.get("PATH"))
        if found is None:
            what = "vLLM for your GPU" if program == "vllm" else program
            raise EngineError(
                f"profile {plan.profile} runs `{program}`, which is not on PATH",
                f"Install {what}, {_ELSEWHERE}",
            )
        package = _package(process)
        if package and subprocess.run([found, "-c", _FIND, package], env=env, capture_output=True).returncode:
            raise EngineError(
                f"profile {plan.profile} runs `{program} -m {process.argv[2]}`, and {found} has no {package}",
                f"Put the Python that has {package} first on PATH (it is in the engine's image), {_ELSEWHERE}",
            )


def _package(process: ProcessSpec) -> str | None:
    """What another Python than labkit's must have; labkit's own is looked at by the doctor."""
    program, *rest = process.argv
    other = program != sys.executable and rest[:1] == ["-m"]
    return rest[1].partition(".")[0] if other else None
