"""Are the programs of a plan on this machine? Asked first of all: without them nothing else matters."""

from __future__ import annotations

import os
import shutil

from labkit.core.errors import EngineError
from labkit.engines.environment import engine_environment
from labkit.engines.plan_records import Plan


def require_programs(plan: Plan) -> None:
    """Raises EngineError, naming the program, when one that the plan runs cannot be found."""
    for process in plan.layout:
        program = process.argv[0]
        path = engine_environment(os.environ, process.env).get("PATH")
        if shutil.which(program, path=path) is None:
            what = "vLLM for your GPU" if program == "vllm" else program
            raise EngineError(
                f"profile {plan.profile} runs `{program}`, which is not on PATH",
                f"Install {what}, or take the profile that runs anywhere: --profile cpu-smollm2.",
            )
