"""Which GPUs each engine of a profile gets: as many as its parallel degrees ask for, and none that another one has.

    check_groups(profile)

Both engines may have the very same GPUs (a split within one GPU); groups that overlap in part are a slip of the pen.
Degrees multiply to an engine's world (vLLM: config/parallel.py); data parallel ranks within SGLang's attention share
the GPUs of its tensor parallel group.
"""

from __future__ import annotations

from itertools import chain
from math import prod

from labkit.core.errors import BadInput
from labkit.engines.profiles import Profile
from labkit.engines.profiles.schema import Flags

Groups = tuple[tuple[int, ...], ...]

_WORLD = (
    ("tensor-parallel-size", "tp-size", "tp"),
    ("pipeline-parallel-size", "pp-size", "pp"),
    ("prefill-context-parallel-size",),
    ("data-parallel-size-local", "data-parallel-size", "dp-size", "dp"),
)
"""Each degree's names, the one that counts first; several names are those of vLLM and of SGLang."""
_SHARED = "enable-dp-attention"
_FIELD = "engine.gpus"
_ENGINES = 2


def check_groups(profile: Profile) -> None:
    """Raises BadInput for groups that are not two, overlap in part, or are not of the size that the degrees ask for."""
    groups = profile.engine.gpus
    if not groups:
        return
    if len(groups) != _ENGINES:
        raise BadInput(_FIELD, _shown(groups), "two groups: of replica 0 or prefill, and of replica 1 or decode")
    _check_apart(groups)
    _check_size(groups, _degrees(profile.engine.flags))


def _check_size(groups: Groups, degrees: dict[str, int]) -> None:
    wanted = prod(degrees.values())
    asked = " x ".join(f"{name} {value}" for name, value in degrees.items()) or "tensor-parallel-size is not set"
    for group in groups:
        if len(group) != wanted:
            allowed = f"groups of {wanted} GPU{'s' * (wanted != 1)}, as {asked}"
            raise BadInput(_FIELD, _shown((group,)), allowed, "Change `gpus` under [engine], or the flag.")


def _check_apart(groups: Groups) -> None:
    for group in groups:
        if len(set(group)) < len(group):
            raise BadInput(_FIELD, _shown((group,)), "each GPU once in a group")
    every = [*chain.from_iterable(groups)]
    shared = sorted({gpu for gpu in every if every.count(gpu) > 1})
    if shared and len({frozenset(group) for group in groups}) > 1:
        both = f"GPU{'s' * (len(shared) != 1)} {', '.join(map(str, shared))} in both"
        raise BadInput(_FIELD, _shown(groups), f"groups that share no GPU, or twice the same group; {both}")


def _shown(groups: Groups) -> list[list[int]]:
    """As TOML has them."""
    return [list(group) for group in groups]


def _degrees(flags: Flags) -> dict[str, int]:
    """Degrees as the profile sets them, by the flag's name."""
    named = (next((name for name in names if name in flags), None) for names in _WORLD)
    found = {name: flags[name] for name in named if name is not None}
    if flags.get(_SHARED):
        found = {name: value for name, value in found.items() if name not in _WORLD[-1]}
    return {name: value for name, value in found.items() if isinstance(value, int)}
