"""Where a Ray cluster is asked for, and whether anything listens there: Ray itself would try for over a minute."""

from __future__ import annotations

import os
import socket
from typing import Any

from labkit.core.errors import BadInput

_KNOCK_S = 5.0
_ENVIRONMENT = "RAY_ADDRESS"


def checked(address: str) -> str:
    """`auto` or HOST:PORT, and so what RAY_ADDRESS says for `auto`. Raises BadInput for anything else."""
    hint = "Start one: ray start --head --port=6379"
    if not _fits(address):
        raise BadInput("ray", address, "auto, or HOST:PORT of the head node", hint)
    told = os.environ.get(_ENVIRONMENT, "")
    if address == "auto" and told and not _fits(told):
        raise BadInput(_ENVIRONMENT, told, "HOST:PORT of the head node", f"Or take it away: unset {_ENVIRONMENT}")
    return address


def _fits(address: str) -> bool:
    host, colon, port = address.rpartition(":")
    return address == "auto" or bool(host and colon and port.isdecimal() and "/" not in address)


def behind(ray: Any, address: str) -> str:
    """The HOST:PORT that Ray would take for `auto`: of RAY_ADDRESS, of a cluster on this machine, or left by one.

    Raises ConnectionError where there is none. A Ray that does not tell is left to find it by itself.
    """
    tells: Any = getattr(getattr(ray, "_private", None), "services", None)
    if address != "auto" or not hasattr(tells, "canonicalize_bootstrap_address"):
        return address
    return str(tells.canonicalize_bootstrap_address(address))


def knock(address: str) -> None:
    """Raises OSError where nothing listens."""
    if address != "auto":
        host, _, port = address.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()


def left_over(asked: str) -> str:
    """What else to do where the address was Ray's own to name; begins with a space."""
    if asked != "auto":
        return ""
    if os.environ.get(_ENVIRONMENT):
        return f" auto is what {_ENVIRONMENT} says: unset {_ENVIRONMENT}, or name the head node: --ray HOST:PORT"
    return " An address that a cluster left behind here is forgotten with: ray stop. Or name it: --ray HOST:PORT"
