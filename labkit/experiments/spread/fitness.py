"""Whether a node can measure for this machine: it has this labkit and this Python."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import labkit
from labkit.core.errors import LabError
from labkit.experiments.spread.nodes import Node, on_node

_PROBE_S = 60.0


def probed(ray: Any, nodes: Sequence[Node]) -> dict[str, dict[str, str]]:
    """What each node has of labkit and Python. The function carries its own text: labkit may not be there."""

    def probe() -> dict[str, str]:
        import platform

        try:
            import labkit
        except ImportError as error:
            return {"python": platform.python_version(), "labkit": "", "error": str(error)}
        return {"python": platform.python_version(), "labkit": labkit.__version__}

    asked = [on_node(ray, probe, node).remote() for node in nodes]
    try:
        return {node.name: ray.get(one, timeout=_PROBE_S) for node, one in zip(nodes, asked, strict=True)}
    except ray.exceptions.RayError as error:
        raise LabError(f"A node does not answer: {first_line(error)}", "See which: ray status") from error


def check_alike(probed: Mapping[str, Mapping[str, str]]) -> None:
    """Raises LabError for a node without this labkit or with another Python: what it sends could not be read."""
    python = _minor(platform.python_version())
    for name, has in probed.items():
        if not has["labkit"]:
            raise LabError(
                f"{name} has no labkit: {has.get('error', 'not installed')}.",
                "In its checkout on that node, in the environment that `ray start` runs in: pip install -e '.[ray]'",
            )
        if has["labkit"] != labkit.__version__:
            raise LabError(
                f"{name} has labkit {has['labkit']}, and this machine {labkit.__version__}.",
                "Install one version on all, and start Ray there again: ray stop; ray start --address=HEAD:6379",
            )
        if _minor(has["python"]) != python:
            raise LabError(f"{name} has Python {has['python']}, and this machine {python}.", "Use one Python on all.")


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def first_line(error: BaseException) -> str:
    """Of Ray's long texts, the line that says what happened."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
