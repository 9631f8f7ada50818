"""Ports of this machine: free ones, and who holds one that is not."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterable
from pathlib import Path

import psutil

from labkit.core.errors import PortInUse

_TRIES = 100
_BELOW = 12_000
"""How many ports under the kernel's own range are drawn from."""
_KERNEL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(names: Iterable[str]) -> dict[str, int]:
    """A free port on 127.0.0.1 for every name, all different. They are free now; nothing keeps them so.

    An engine binds some of them only seconds later. So they are not taken from the range out of which the kernel serves
    connections and everybody's "any free port" meanwhile: a decode engine's own sockets took prefill's that way.
    """
    with contextlib.ExitStack() as open_sockets:
        return {name: _bound(open_sockets.enter_context(socket.socket())) for name in names}


def _bound(listener: socket.socket) -> int:
    """Bind to a port under the kernel's range; to any when none of those that are tried is free."""
    first = _first_of_kernel()
    for port in random.sample(range(first - _BELOW, first), _TRIES):
        with contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
    listener.bind(("127.0.0.1", 0))
    return int(listener.getsockname()[1])


def _first_of_kernel() -> int:
    """Where the kernel's range begins; Linux' default when it does not say, or begins too low to have room below."""
    try:
        first = int(_KERNEL_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 32768
    return first if first > _BELOW + 1024 else 32768


def is_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1:`port`."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def require_free(name: str, port: int) -> None:
    """Raises PortInUse, naming the holder where the system tells, when `port` is taken."""
    if not is_free(port):
        raise PortInUse(
            f"port {port} ({name}) is in use by {holder(port)}",
            "End that process, or choose another port in the profile's [ports].",
        )


def holder(port: int) -> str:
    """Who listens on `port`: `python (pid 12)`, or a process that this user may not see."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return "another process"
    for connection in connections:
        if connection.laddr and connection.laddr.port == port and connection.pid:
            return _named(connection.pid)
    return "a process of another user"


def _named(pid: int) -> str:
    try:
        return f"{psutil.Process(pid).name()} (pid {pid})"
    except psutil.NoSuchProcess:
        return f"pid {pid}"
