"""Start vLLM's API server in half the time: import vLLM once, fork the other two processes.

    python -m labkit_vllm_cpu.serve --model DIR --port 8200 ...      (arguments of vLLM's API server)

On the CPU vLLM runs three processes (API server, EngineCore, Worker) and spawns the second and third, so the same
16 seconds of imports are done three times in a row. vLLM insists on spawn there because a worker's OpenMP threads take
their number and cores from the environment when the process starts. So this module:

1. starts itself once more with that environment already set, and with the two libraries preloaded that vLLM would
   preload in its workers;
2. imports all that the three processes need;
3. lets vLLM fork where it would spawn. No OpenMP thread exists at that moment (checked: a fork would lose them);
4. after each fork gives the child the cores that it would have had: EngineCore all, the Worker its first bound core.

It replaces `multiprocessing.get_context`, which is a liberty; the plain launch stays the fallback
(`fast_start = false` in the profile).
"""

from __future__ import annotations

import importlib
import os
import sys

from labkit_vllm_cpu import binding
from labkit_vllm_cpu.forking import fork_instead_of_spawn
from labkit_vllm_cpu.preload import is_preloaded, preloaded_environment

_MODULES = (
    "vllm.entrypoints.openai.api_server",
    "vllm.v1.engine.async_llm",
    "vllm.v1.engine.core",
    "vllm.v1.executor.multiproc_executor",
    "vllm.v1.worker.cpu_worker",
    "vllm.v1.attention.backends.cpu_attn",
    "vllm.model_executor.models.llama",
)
"""What EngineCore and Worker would import first; whatever else they need they import themselves."""


def main() -> None:
    """Serve until ended."""
    if not is_preloaded():
        again = [sys.executable, "-m", "labkit_vllm_cpu.serve", *sys.argv[1:]]
        os.execve(sys.executable, again, preloaded_environment())
    for module in _MODULES:
        importlib.import_module(module)
    binding.release()  # importing torch has used libgomp
    fork_instead_of_spawn()
    from vllm.entrypoints.launchers.api_server.entry import main as serve

    serve()


if __name__ == "__main__":
    main()
