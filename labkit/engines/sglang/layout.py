"""From a profile and an arm to SGLang's processes. What a layer adds is data of the profile; where it goes is here.

Both halves of a split get the drafter's flags: prefill computes the drafter's first state, too. The radix cache of a
decode engine is off whatever the arm (SGLang sets it so itself), and what the layer caches in an arm with the split is
prefill's; `[layers.pd_split.connector.decode_cached]` may say otherwise.
"""

from __future__ import annotations

from typing import Any

from labkit.core.errors import BadInput
from labkit.engines.choice import Choice
from labkit.engines.flags import fill
from labkit.engines.plan_records import ProcessSpec
from labkit.engines.profiles import Profile
from labkit.engines.profiles.schema import Flags
from labkit.engines.sglang import rules
from labkit.engines.sglang.flags import to_argv
from labkit.engines.sglang.router import router

PYTHON = "python3"
"""The interpreter of SGLang's image, not labkit's."""
TRANSFERS = ("mori", "mooncake")
_OF_SIDES = ("prefill", "decode", "decode_cached")
_GIB = 1 << 30


def sglang_layout(profile: Profile, choice: Choice) -> tuple[ProcessSpec, ...]:
    """The processes with port markers; the one that takes requests is the last.

    Raises BadInput for a transfer that SGLang has not, and for flags that it would refuse (rules.py).
    """
    rules.check_shared(profile.engine.flags)
    if choice.arm.pd_split:
        halves = (_engine(profile, choice, 0, "prefill"), _engine(profile, choice, 1, "decode"))
        return (*halves, router(profile, PYTHON, halves, pd=True))
    replicas = profile.engine.replicas
    roles = ("engine",) if replicas == 1 else tuple(f"engine-{index}" for index in range(replicas))
    engines = tuple(_engine(profile, choice, index, role) for index, role in enumerate(roles))
    return engines if len(engines) == 1 else (*engines, router(profile, PYTHON, engines, pd=False))


def _engine(profile: Profile, choice: Choice, index: int, role: str) -> ProcessSpec:
    """One server, on the GPUs of its index."""
    settings, pd = profile.engine, profile.layers.pd_split
    flags = _flags(profile, choice) | (_transfer(profile, choice, role) if choice.arm.pd_split else {})
    rules.check(flags)
    gpus = ",".join(str(gpu) for gpu in settings.gpus[index]) if settings.gpus else ""
    argv = (
        *(PYTHON, "-m", "sglang.launch_server", "--model-path", choice.model),
        *("--served-model-name", profile.model.served),
        *("--host", "127.0.0.1", "--port", f"{{port:{role}}}"),
        *to_argv(fill(flags, {"model": choice.model})),
    )
    env = fill({**settings.env, **(pd.env if choice.arm.pd_split else {})}, {"gpus": gpus})
    return ProcessSpec(role=role, argv=argv, env=env, memory_bytes=int(settings.memory_gib * _GIB))


def _flags(profile: Profile, choice: Choice) -> Flags:
    """The profile's flags, the method's pins, then what the arm's layers add."""
    layers, arm = profile.layers, choice.arm
    method = layers.speculation.methods[choice.method]
    caching = arm.prefix_caching or choice.salted
    flags: Flags = {**profile.engine.flags, **method.pins}
    flags |= layers.prefix_caching.on if caching else layers.prefix_caching.off
    return flags | {**method.config, **layers.speculation.flags} if arm.speculation else flags


def _transfer(profile: Profile, choice: Choice, role: str) -> Flags:
    """The flags of one half. Both name the bootstrap port: it is prefill's, and decode reads it there."""
    pd, caching = profile.layers.pd_split, choice.arm.prefix_caching or choice.salted
    if pd.transfer not in TRANSFERS:
        raise BadInput("layers.pd_split.transfer", pd.transfer, ", ".join(TRANSFERS))
    sides: dict[str, Any] = {name: pd.connector.get(name, {}) for name in _OF_SIDES}
    return {
        "disaggregation-mode": role,
        "disaggregation-transfer-backend": pd.transfer,
        "disaggregation-bootstrap-port": "{port:bootstrap}",
        **{name: value for name, value in pd.connector.items() if name not in _OF_SIDES},
        **sides[role],
        **(sides["decode_cached"] if role == "decode" and caching else {}),
    }
