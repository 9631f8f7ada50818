"""One look at the node: everything that the GPU checks judge, in a few hundredths of a second."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from labkit.doctor.node import kfd, nvml, pci, system
from labkit.doctor.node.records import GpuDevice, GpuUser, Node
from labkit.doctor.node.roots import Roots, number
from labkit.engines.moriio import ignored_variables

HERE = Roots()


def node(
    engines: Mapping[int, str] | None = None, *, roots: Roots | None = None, environ: Mapping[str, str] | None = None
) -> Node:
    """This machine. `engines`: session of an engine's process to its id; `roots`: HERE unless another is given."""
    roots, environ = roots or HERE, os.environ if environ is None else environ
    nvidia = nvml.told(roots)
    return Node(
        gpus=_gpus(pci.on_bus(roots), nvidia.gpus),
        users=tuple(_owned(user, engines or {}) for user in (*kfd.users(roots), *nvidia.users)),
        driver=system.driver(roots, nvidia.driver, nvidia.cuda),
        files=system.device_files(roots),
        limits=system.limits(),
        numa_balancing=number(roots.proc / "sys" / "kernel" / "numa_balancing"),
        rdma=system.rdma(roots),
        variables=system.visible(environ),
        ignored=ignored_variables(environ),
    )


def _gpus(bus: tuple[GpuDevice, ...], told: tuple[GpuDevice, ...]) -> tuple[GpuDevice, ...]:
    """NVIDIA's as NVML tells them: a container sees the whole bus, and some of its GPUs. Without its driver the bus."""
    return (*(gpu for gpu in bus if gpu.vendor != "nvidia"), *told) if told else bus


def _owned(user: GpuUser, engines: Mapping[int, str]) -> GpuUser:
    try:
        return replace(user, engine=engines.get(os.getsid(user.pid), ""))
    except OSError:
        return user
