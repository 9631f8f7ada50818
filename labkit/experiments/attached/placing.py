"""Which arms an attached engine can serve: what it tells of its layers, or what its user says. Pure.

Speculation and the split are an engine's for life. Prefix caching is switched per request by a fresh cache salt, where
the engine has it on and takes salts; a strict run wants an engine for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from labkit.core.arms import Arm
from labkit.core.errors import BadInput
from labkit.experiments.attached.endpoints import Endpoint
from labkit.experiments.attached.records import AttachedEngine
from labkit.experiments.serving import SwitchedBy

How = SwitchedBy | Literal["restart", "no salt", "caching on"]
"""How an arm is served: `flag` or `salt`; or why not: other layers, an engine that takes no salt, a strict run."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    """An engine in its arm. `arm`: its layers, with prefix caching where it is on or may be. `assumed`: what is taken
    for granted since nothing tells it, a sentence each."""

    endpoint: Endpoint
    engine: AttachedEngine
    arm: Arm
    assumed: tuple[str, ...] = ()

    def how(self, arm: Arm, *, strict: bool) -> How:
        """How it would serve this arm."""
        if (arm.pd_split, arm.speculation) != (self.arm.pd_split, self.arm.speculation):
            return "restart"
        if arm.prefix_caching:
            return "flag" if self.arm.prefix_caching else "restart"
        if not self.arm.prefix_caching:
            return "flag"
        if strict:
            own_word = self.endpoint.arm == arm and self.engine.prefix_caching is None
            return "flag" if own_word else "caching on"
        return "no salt" if self.engine.salt == "refused" else "salt"


def placed(endpoint: Endpoint, engine: AttachedEngine, arm_is: Arm | None = None) -> Placed:
    """`arm_is`: what the user says of an endpoint without an arm's name. Raises BadInput where the engine tells
    otherwise."""
    said = endpoint.arm or arm_is
    if said:
        _require_agreement(said, engine, "endpoint" if endpoint.arm else "arm-is")
    layers = said or Arm(speculation=bool(engine.speculation), pd_split=bool(engine.split))
    arm = replace(layers, prefix_caching=engine.prefix_caching is not False)
    return Placed(endpoint=endpoint, engine=engine, arm=arm, assumed=tuple(_assumed(said, engine)))


def _require_agreement(said: Arm, engine: AttachedEngine, field: str) -> None:
    for word, ours, theirs in (
        ("speculation", said.speculation, engine.speculation),
        ("a prefill/decode split", said.pd_split, engine.split),
    ):
        if theirs is not None and ours != theirs:
            tells = f"{engine.url} tells that it runs {'with' if theirs else 'without'} {word}"
            raise BadInput(
                field, said.label, "the arm that the engine is in", f"{tells}: see labkit attach {engine.url}"
            )
    if said.prefix_caching and engine.prefix_caching is False:
        hint = f"{engine.url} tells that its prefix caching is off."
        raise BadInput(field, said.label, "the arm that the engine is in", hint)


def _assumed(said: Arm | None, engine: AttachedEngine) -> list[str]:
    found = []
    by = "the arm's name says" if said else "taken for granted; if it is not so, say --arm-is ARM"
    if engine.speculation is None:
        found.append(f"that it runs {'with' if said and said.speculation else 'without'} speculation is not told: {by}")
    if engine.split is None:
        found.append(f"that it is {'' if said and said.pd_split else 'not '}split is not told: {by}")
    if engine.prefix_caching is None:
        found.append("that its prefix caching is on is not told: the cached tokens of the arm with it tell")
    if not engine.probed:
        found.append("what its replies tell, and whether it takes a cache salt, was not tried: --no-probe")
    if engine.salt == "accepted":
        found.append("it took a cache salt, and nothing tells whether it reads it: the cached tokens of base tell")
    return found
