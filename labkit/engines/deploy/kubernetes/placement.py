"""Which processes may live in pods of their own, and which must share one container.

A device plugin gives each container GPUs of its own and no other container sees them. So processes stay together where
the plan has them share a GPU, or reach into each other's.
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.engines.deploy.deployment import Deployment
from labkit.engines.deploy.transfer import moriio_backend

_XGMI = (
    "Prefill and decode are in one container. MoRI's xgmi backend opens the other half's KV cache by a HIP IPC handle;",
    "the ROCm runtime opens one by the GPU that exported it, and a device plugin gives a container no other's GPUs. A",
    "handle also carries its owner's process id, and equal ids in two containers would be taken for one process.",
)
_SHARED = (
    "The engines are in one container: the plan has them share a GPU, which a device plugin gives to one alone.",
)
_SGLANG = (
    "Prefill and decode are in one container, where the addresses and the transfer of the plan hold as they are.",
)


def why_together(deployment: Deployment) -> Sequence[str]:
    """Why the engines share a container, as lines of a comment; nothing where each has a pod of its own."""
    if len(deployment.engines) == 1:
        return ()
    if deployment.is_split and moriio_backend(deployment) == "xgmi":
        return _XGMI
    if sum(len(engine.gpus) for engine in deployment.engines) > len(deployment.gpus):
        return _SHARED
    if deployment.is_split and deployment.profile.engine.command == "sglang":
        return _SGLANG
    return ()
