"""What carries the KV of a split, as the engines' command lines say it, and what that asks of a container."""

from __future__ import annotations

import json

from labkit.engines.deploy.arguments import value_of
from labkit.engines.deploy.deployment import Deployment

_SGLANG_RDMA = ("mori", "mooncake")


def moriio_backend(deployment: Deployment) -> str | None:
    """`xgmi` or `rdma` (MoRI-IO's own default); None for another connector, or none."""
    text = value_of(deployment.engines[0].argv, "--kv-transfer-config")
    config = json.loads(text) if text else {}
    if config.get("kv_connector") != "MoRIIOConnector":
        return None
    return str(config.get("kv_connector_extra_config", {}).get("backend", "rdma"))


def needs_rdma(deployment: Deployment) -> bool:
    """Whether the transfer does not work without RDMA network cards. NIXL takes whatever UCX finds."""
    sglang = value_of(deployment.engines[0].argv, "--disaggregation-transfer-backend")
    return moriio_backend(deployment) == "rdma" or sglang in _SGLANG_RDMA


def shares_pids(deployment: Deployment) -> bool:
    """Whether processes may hand each other memory of a GPU.

    HIP's IPC handles and UCX's cuda_ipc carry the owner's process id, and take one's own number for one's own memory.
    Two containers with namespaces of their own start the same programs and count the same numbers.
    """
    return deployment.is_split and deployment.profile.machine.vendor != "cpu"
