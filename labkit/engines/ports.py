"""Ports of this machine: free ones, and who holds one that is not."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

from labkit.core.errors import PortInUse

_TRIES = 100
_BELOW = 12_000
"""How many ports under the kernel's own range are drawn from."""
_KERNEL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(names: Iterable[str], rooms: Mapping[str, int] | None = None) -> dict[str, int]:
    """A free port on 127.0.0.1 for every name, all different. They are free now; nothing keeps them so.

    `rooms`: how many ports in a row a name needs, where it is more than one; the first is given.
    An engine binds some of them only seconds later. So they are not taken from the range out of which the kernel serves
    connections and everybody's "any free port" meanwhile: a decode engine's own sockets took prefill's that way.
    """
    with contextlib.ExitStack() as open_sockets:
        return {name: _bound(open_sockets, (rooms or {}).get(name, 1)) for name in names}


def _bound(open_sockets: contextlib.ExitStack, count: int) -> int:
    """Bind to `count` ports in a row under the kernel's range; to any one when none of those that are tried is free."""
    first = _first_of_kernel()
    for port in random.sample(range(first - _BELOW, first - count), _TRIES):
        with contextlib.ExitStack() as row, contextlib.suppress(OSError):
            for number in range(port, port + count):
                row.enter_context(socket.socket()).bind(("127.0.0.1", number))
            open_sockets.enter_context(row.pop_all())
            return port
    listener = open_sockets.enter_context(socket.socket())
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


def require_free(name: str, port: int, count: int = 1) -> None:
    """Raises PortInUse, naming the holder where the system tells, when one of `count` ports from `port` on is taken."""
    for number in range(port, port + count):
        if not is_free(number):
            of = name if number == port else f"{name} + {number - port}"
            raise PortInUse(
                f"port {number} ({of}) is in use by {holder(number)}",
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
