"""Which GPUs a process sees: HIP has a variable of its own and reads CUDA's, too, so that a plan may contradict itself.

check_visible(plan)
"""

from __future__ import annotations

from labkit.core.errors import BadInput
from labkit.engines.plan_records import Plan, ProcessSpec

_HIP, _CUDA = "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"
_HINT = "vLLM's ROCm platform refuses to start with two that differ. Write {gpus} in both, in every table of `env`."


def check_visible(plan: Plan) -> Plan:
    """`plan`, when no process of it has the two variables with different values. An empty one counts as unset, as vLLM
    takes it (platforms/rocm.py). Raises BadInput.
    """
    for process in plan.processes:
        _check(process)
    return plan


def _check(process: ProcessSpec) -> None:
    hip, cuda = process.env.get(_HIP), process.env.get(_CUDA)
    if hip and cuda and hip != cuda:
        raise BadInput(f"{process.role}: {_HIP}", hip, f"{cuda}, as {_CUDA} has it", _HINT)
