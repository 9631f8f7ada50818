"""Plans to deploy: of every shipped profile that has an image, and of its variants."""

from __future__ import annotations

import functools
from typing import Any

import yaml

from labkit.core.arms import ARMS
from labkit.engines.deploy import deploy_files
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import Profile, list_profiles, load_profile

SPLIT = "mi300x-8-qwen3-235b"


_IMAGED = [name for name in list_profiles() if load_profile(name).machine.image]
_VARIANTS = [f"{name}+{variant}" for name in _IMAGED for variant in load_profile(name).variants]
EVERY = [
    *((name, arm.label) for name in _IMAGED for arm in ARMS),
    *((name, arm) for name in _VARIANTS for arm in ("base", "all")),
]
"""A profile's name and an arm's label: all eight arms of a profile, no layer and all three of its variants."""


def planned(profile: Profile | str, arm: str) -> tuple[Profile, Plan]:
    """The profile and the plan of one of its arms."""
    chosen = load_profile(profile) if isinstance(profile, str) else profile
    return chosen, make_plan(chosen, next(one for one in ARMS if one.label == arm), cores=(0, 1))


def text_of(profile: Profile | str, arm: str, form: str) -> str:
    """The one file of a form; of a shipped profile it is made once."""
    return _shipped(profile, arm, form) if isinstance(profile, str) else _made(profile, arm, form)


def documents(profile: Profile | str, arm: str, form: str) -> list[dict[str, Any]]:
    """The documents of a YAML form."""
    return list(yaml.load_all(text_of(profile, arm, form), yaml.CSafeLoader))


@functools.cache
def _shipped(name: str, arm: str, form: str) -> str:
    return _made(load_profile(name), arm, form)


def _made(profile: Profile, arm: str, form: str) -> str:
    (file,) = deploy_files(*planned(profile, arm), form)
    return file.text


def with_engine(name: str, **changes: Any) -> Profile:
    """The profile with other fields under `[engine]`."""
    profile = load_profile(name)
    return profile.model_copy(update={"engine": profile.engine.model_copy(update=changes)})


def with_secrets(name: str, secret: str) -> Profile:
    """The profile with a secret in each place where somebody may have put one."""
    engine = load_profile(name).engine
    env = {**engine.env, "HF_TOKEN": secret, "MY_API_KEY": secret, "PROXY": f"http://me:{secret}@host"}
    return with_engine(name, env=env, flags={**engine.flags, "api-key": secret})
