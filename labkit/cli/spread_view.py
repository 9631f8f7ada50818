"""A run over the nodes of a Ray cluster (`--ray`): connect, say what goes where, run, show."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any, NoReturn

from rich.console import Console

from labkit.cli.factorial_view import show_factorial
from labkit.cli.measuring import Shown, conduct, provider, show
from labkit.core.errors import BadInput
from labkit.core.progress import OnProgress
from labkit.engines.profiles import load_profile
from labkit.experiments.asked import Asked
from labkit.experiments.design import Design
from labkit.experiments.factorial import NAME, FactorialAsked
from labkit.experiments.runner import OnCreated, replay_design
from labkit.experiments.serving import StaticProvider
from labkit.experiments.spread.cluster import connected
from labkit.experiments.spread.conduct import run_spread
from labkit.experiments.spread.engines import Attached, FleetOnNode, Recipe
from labkit.experiments.spread.nodes import Node
from labkit.experiments.spread.units import units
from labkit.store.runs import Run


def spread_factorial(asked: FactorialAsked, *, address: str, attached: list[str], as_json: bool) -> NoReturn:
    """A factorial on the cluster at `address`. Raises typer.Exit as `measuring` says, LabError for what cannot be."""
    shown = partial(show_factorial, as_json=as_json)
    _spread(NAME, asked, asked.design(), shown, address, attached, as_json)


def spread_replay(asked: Asked, *, address: str, attached: list[str], as_json: bool) -> NoReturn:
    """A replay, in the same way."""
    _spread("replay", asked, replay_design(asked), partial(show, as_json=as_json), address, attached, as_json)


def _spread(
    experiment: str,
    asked: Asked | FactorialAsked,
    design: Design,
    shown: Shown,
    address: str,
    attached: list[str],
    as_json: bool,
) -> NoReturn:
    """Ray is connected before the run listens to signals: it would take SIGTERM for itself."""
    if asked.keep:
        raise BadInput("keep", True, "no --keep together with --ray", "A node's engines end with the repeat.")
    recipe = _recipe(asked, attached)
    with connected(address) as nodes:
        _announce(design, nodes, as_json)

        def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
            return run_spread(experiment, asked, design, recipe, nodes, on_progress=on_progress, on_created=on_created)

        conduct(work, shown, job=asked.job, as_json=as_json)


def _recipe(asked: Asked | FactorialAsked, attached: list[str]) -> Recipe:
    """Each node's fleet; or engines that run already, under the same addresses on each node."""
    if not attached:
        return FleetOnNode(load_profile(asked.profile), asked.spec_method, asked.strict)
    engines = provider(asked.profile, attached, spec_method=asked.spec_method, strict=asked.strict)
    if not isinstance(engines, StaticProvider):
        raise BadInput("attach", attached, "ARM=URL alone, together with --ray", "Or measure it from here: no --ray.")
    return Attached(engines)


def _announce(design: Design, nodes: Sequence[Node], as_json: bool) -> None:
    """What is spread over what; a node more than there are repeats has nothing to do."""
    whole = [unit for unit in units(design) if unit.follows is None]
    names = ", ".join(node.name for node in nodes)
    repeats, arms = _counted(len(whole), "repeat"), _counted(len(design.labels), "arm")
    said = f"{repeats} of {arms} over {_counted(len(nodes), 'node')} ({names}), each repeat on one node."
    if len(whole) < len(nodes):
        said += f" {len(nodes) - len(whole)} of them will have nothing to do: ask for --repeats {len(nodes)}."
    Console(stderr=as_json).print(said, highlight=False, soft_wrap=True)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
