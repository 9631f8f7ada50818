"""Ports of this machine: free ones, and who holds one that is not."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable

import psutil

from labkit.core.errors import PortInUse


def free_ports(names: Iterable[str]) -> dict[str, int]:
    """A free port on 127.0.0.1 for every name, all different. They are free now; nothing keeps them so."""
    with contextlib.ExitStack() as open_sockets:
        found = {}
        for name in names:
            listener = open_sockets.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            found[name] = int(listener.getsockname()[1])
        return found


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
