"""Variants: a profile with a change that is said in its name, so that a plan, a run and a fingerprint say it too.

    load_profile("cpu-smollm2+block-size=128")
    load_profile("mi300x-8-qwen3-235b+read")
    variant("cpu-smollm2", {"num-gpu-blocks-override": 129, "max-model-len": 2048})

`+FLAG=VALUE` sets an engine flag that is the same in every arm, never one that a layer owns. `+NAME` is a variant that
the profile itself declares; it may also change how a layer is made, for all the arms that have it. Arms still differ by
the layer alone, and there is no second file to keep in step with the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labkit.core.errors import BadInput
from labkit.core.names import pick
from labkit.engines.profiles.schema import Profile

Scalar = bool | int | str
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_CHANGE = re.compile(rf"\+(?={_NAME.pattern}(?:[=+]|$))")
_TEXT = re.compile(r"[A-Za-z0-9_.-]+")
_WORDS = {"true": True, "false": False}
_OF_LAYERS = ("speculative-config", "kv-transfer-config")


def variant(profile: str, flags: Mapping[str, Scalar]) -> str:
    """The name of `profile` (a name or a path) with these engine flags. Raises BadInput for what no name can say."""
    for flag, value in flags.items():
        if not _NAME.fullmatch(flag):
            raise BadInput("flag of a variant", flag, "a flag's name without its dashes, such as block-size")
        _value(flag, _text(value))
    return "".join([profile, *(f"+{flag}={_text(value)}" for flag, value in flags.items())])


def split_name(name: str) -> tuple[str, tuple[str, ...], dict[str, Scalar]]:
    """`mi300x-8-qwen3-235b+read+block-size=128` as the base, its named variants and its flags. Raises BadInput."""
    base, *changes = _CHANGE.split(name)
    pairs = [change.partition("=") for change in changes]
    named = tuple(word for word, sign, _ in pairs if not sign)
    return base, named, {flag: _value(flag, text) for flag, sign, text in pairs if sign}


def named_variant(profile: Profile, name: str) -> Profile:
    """The profile with its declared variant laid over it. Raises UnknownName."""
    hint = f"labkit plan --profile {profile.name} --variants"
    chosen = pick("variant", name, profile.variants, hint)
    changes = chosen.model_dump(exclude={"about"})
    about = {"name": f"{profile.name}+{name}", "title": f"{profile.title}; {chosen.about}"}
    return Profile.model_validate({**_over(profile.model_dump(), changes), **about})


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are laid over tables, key by key; anything else is replaced."""
    both = {key: _over(below[key], value) for key, value in above.items() if _tables(below.get(key), value)}
    return {**below, **above, **both}


def _tables(below: Any, above: Any) -> bool:
    return isinstance(below, Mapping) and isinstance(above, Mapping)


def varied(profile: Profile, flags: Mapping[str, Scalar]) -> Profile:
    """The profile with these flags in every arm, under the variant's name. Raises BadInput for a layer's own flag."""
    caching = profile.layers.prefix_caching
    for flag in flags:
        if flag in {*_OF_LAYERS, *caching.on, *caching.off, *profile.layers.speculation.flags}:
            raise BadInput("flag of a variant", flag, "one that no layer owns", "Choose an arm to switch a layer.")
    changed = ", ".join(f"{flag} {_text(value)}" for flag, value in flags.items())
    about = {"name": variant(profile.name, flags), "title": f"{profile.title}, with {changed}"}
    engine = profile.engine.model_copy(update={"flags": {**profile.engine.flags, **flags}})
    return profile.model_copy(update={**about, "engine": engine})


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(flag: str, text: str) -> Scalar:
    """A whole number, true, false, or a word; nothing that could not stand in a folder's name."""
    if not _TEXT.fullmatch(text):
        raise BadInput(f"{flag} of a variant", text, "a number, true, false, or a word without spaces and slashes")
    return int(text) if re.fullmatch(r"-?\d+", text) else _WORDS.get(text, text)
