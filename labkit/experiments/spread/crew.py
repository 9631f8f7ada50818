"""The workers of a run: one actor per node, started, asked, and let go with their engines ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from labkit.core.clock import Clock
from labkit.core.errors import LabError
from labkit.experiments.design import Design
from labkit.experiments.spread.engines import Recipe
from labkit.experiments.spread.nodes import Node, on_node
from labkit.experiments.spread.offset import Offset, measured_offset
from labkit.experiments.spread.ray_import import ray_module
from labkit.experiments.spread.relayed import Line
from labkit.experiments.spread.worker import ClockOf, Order, Worker, system_clock
from labkit.experiments.spread.workers import NodeLost

_BEGIN_S = 180.0
"""A node that was never used imports labkit and pandas first."""
_STOP_S = 90.0
"""Engines get a grace to end in."""
_KEEP_GPUS = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""Ray would set these for the worker and so for its engines; which process sees which GPU is the plan's to say."""


class Crew:
    """Workers by the node's name. Use it as an async context manager: at its end every worker is let go."""

    def __init__(self, nodes: Sequence[Node], design: Design, recipe: Recipe, clock_of: ClockOf = system_clock) -> None:
        self._ray = ray_module()
        self._actors = {node.name: self._begun(node, design, recipe, clock_of) for node in nodes}

    def _begun(self, node: Node, design: Design, recipe: Recipe, clock_of: ClockOf) -> Any:
        """All GPUs of the node are taken, so that nothing else of the cluster runs on them meanwhile."""
        env = {f"RAY_EXPERIMENTAL_NOSET_{name}": "1" for name in _KEEP_GPUS}
        options = {"num_gpus": node.gpus, "max_restarts": 0, "runtime_env": {"env_vars": env}}
        return on_node(self._ray, Worker, node, **options).remote(node.name, design, recipe, clock_of)

    async def __aenter__(self) -> Crew:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(self.let_go(node) for node in list(self._actors)))

    async def facts(self) -> dict[str, dict[str, Any]]:
        """The fingerprint of each node. Raises LabError for one that cannot serve, or where no worker begins."""
        told = await asyncio.gather(*(self._asked(node) for node in self._actors))
        for node, said in zip(self._actors, told, strict=True):
            if "error" in said:
                raise LabError(f"{node}: {said['error']}", said["hint"])
        return {node: said["fingerprint"] for node, said in zip(self._actors, told, strict=True)}

    async def _asked(self, node: str) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_BEGIN_S):
                return dict(await self._actors[node].facts.remote())
        except TimeoutError:
            hint = "Are its GPUs taken by something else of the cluster? See: ray status"
            raise LabError(f"{node}: no worker began within {_BEGIN_S:.0f} s.", hint) from None
        except self._ray.exceptions.RayError as error:
            raise LabError(f"{node}: {last_line(error)}", "Its own words: ray logs") from error

    async def offset(self, node: str, clock: Clock) -> Offset:
        """How far its clock is ahead of this one. Raises NodeLost."""
        actor = self._actors[node]

        async def ask() -> float:
            return float(await actor.now.remote())

        with self._losing(node):
            return await measured_offset(ask, clock)

    async def measured(self, node: str, order: Order) -> AsyncGenerator[Line, None]:
        """The lines of a repeat as they come. Raises NodeLost.

        Cancelled, it has the worker stop, and gives what was still on its way before it ends.
        """
        stream = self._actors[node].measure.remote(order)
        stopping: asyncio.CancelledError | None = None
        with self._losing(node):
            while True:
                try:
                    lines = await self._next(stream, _STOP_S if stopping else None)
                except StopAsyncIteration:
                    break
                except TimeoutError:
                    break
                except asyncio.CancelledError as cancelled:
                    if stopping:
                        raise
                    stopping = cancelled
                    self._actors[node].stop.remote()
                    continue
                for line in lines:
                    yield line
        if stopping:
            raise stopping

    @staticmethod
    async def _next(stream: Any, timeout_s: float | None) -> list[Line]:
        async with asyncio.timeout(timeout_s):
            return list(await (await anext(stream)))

    @contextlib.contextmanager
    def _losing(self, node: str) -> Any:
        """What Ray says of a worker that is gone, as NodeLost; an error of the worker's own stays one."""
        exceptions = self._ray.exceptions
        try:
            yield
        except exceptions.RayTaskError:
            raise
        except exceptions.RayError as error:
            raise NodeLost(f"{node} was lost ({type(error).__name__})") from error

    async def let_go(self, node: str) -> None:
        """End the worker and the engines that it started; one that does not answer is killed."""
        actor = self._actors.pop(node, None)
        if actor is None:
            return
        with contextlib.suppress(TimeoutError, self._ray.exceptions.RayError):
            async with asyncio.timeout(_STOP_S):
                await actor.stop.remote()
        with contextlib.suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(actor)

    def kill(self, node: str) -> None:
        """Give up a worker that was lost, so that it does nothing more should it still be there."""
        actor = self._actors.pop(node, None)
        if actor is not None:
            with contextlib.suppress(self._ray.exceptions.RayError, ValueError):
                self._ray.kill(actor)


def last_line(error: BaseException) -> str:
    """Of Ray's long texts, the line that names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
