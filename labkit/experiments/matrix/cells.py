"""Which cells a profile has: every arm, every drafter in the arms with speculation, every variant that changes a plan.

A cell's plan names no folder and no core of this machine, so that its key is the same on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from labkit.core.arms import ARMS, Arm
from labkit.core.errors import BadInput, UnknownName
from labkit.engines.accepts.configs import model_configs
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import Profile, load_profile

_PYTHON = "python"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """`method`: the drafter; None in an arm without speculation.

    `plan`: None where the profile's engine has a rule against it, which `refused` tells.
    """

    arm: Arm
    method: str | None
    plan: Plan | None
    refused: str = ""

    @property
    def key(self) -> str:
        """Key of the plan; empty without one."""
        return self.plan.key if self.plan else ""

    @property
    def connector(self) -> str | None:
        """What carries the KV, as the engine's option names it; None in an arm without the split."""
        return _connector(self.plan) if self.plan and self.arm.pd_split else None


@dataclass(frozen=True, kw_only=True)
class CellTable:
    """The cells of the profile as it is, or of one of its variants; `about` says what that is."""

    profile: Profile
    variant: str | None
    about: str
    cells: tuple[Cell, ...]

    @property
    def plans(self) -> dict[str, Plan]:
        """By key, those that there are."""
        return {cell.key: cell.plan for cell in self.cells if cell.plan}


def cell_tables(name: str) -> tuple[CellTable, ...]:
    """The profile's own table first; of a variant, only the arms whose plans it changes. Raises UnknownName."""
    profile = load_profile(name)
    own = CellTable(profile=profile, variant=None, about=profile.title, cells=tuple(_cells(profile)))
    known = set(own.plans)
    return (own, *(_of_variant(name, variant, each.about, known) for variant, each in profile.variants.items()))


def portable_plan(profile: Profile, arm: Arm, method: str | None, *, salted: bool = False) -> Plan:
    """The plan as every machine has it: the model by its name, this interpreter as `python`, the profile's cores."""
    weights = profile.model.weights
    named = weights if weights in model_configs() else None
    return make_plan(profile, arm, spec_method=method, salted=salted, model_path=named, python=_PYTHON)


def _of_variant(name: str, variant: str, about: str, known: set[str]) -> CellTable:
    profile = load_profile(f"{name}+{variant}")
    changed = tuple(cell for cell in _cells(profile) if cell.key not in known)
    return CellTable(profile=profile, variant=variant, about=about, cells=changed)


def _cells(profile: Profile) -> Iterator[Cell]:
    methods = tuple(profile.layers.speculation.methods)
    for arm in ARMS:
        for method in methods if arm.speculation else (None,):
            yield _cell(profile, arm, method)


def _cell(profile: Profile, arm: Arm, method: str | None) -> Cell:
    try:
        return Cell(arm=arm, method=method, plan=portable_plan(profile, arm, method))
    except UnknownName:
        raise
    except BadInput as error:  # labkit.engines.sglang.rules: what the engine would refuse when it starts
        return Cell(arm=arm, method=method, plan=None, refused=error.message)


def _connector(plan: Plan) -> str | None:
    """The value of vLLM's `kv_connector`, or of SGLang's transfer backend."""
    words = plan.layout[0].argv
    if "--kv-transfer-config" in words:
        return str(json.loads(words[words.index("--kv-transfer-config") + 1])["kv_connector"])
    backend = "--disaggregation-transfer-backend"
    return words[words.index(backend) + 1] if backend in words else None
