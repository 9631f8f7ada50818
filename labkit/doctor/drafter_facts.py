"""Facts of the drafters' models: an engine with speculation loads a second one, and ends where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labkit.doctor.facts import Drafter, Weights
from labkit.doctor.look import Look
from labkit.doctor.model_facts import weights_facts
from labkit.engines.profiles import Profile

_KEYS = ("model", "speculative-draft-model-path")
"""Where vLLM's and SGLang's configuration of a drafter names its model."""
_NO_OTHERS = ("", "{model}")


def drafter_facts(
    profile: Profile, seen: Look, environ: Mapping[str, str], *, chosen: bool = True
) -> tuple[Drafter, ...]:
    """One per drafter with a model that is not the profile's own, in the profile's order."""
    layer = profile.layers.speculation
    named = {method: _model(each.config) for method, each in layer.methods.items()}
    found = {
        method: weights_facts(name, profile, seen, environ, chosen=chosen)
        for method, name in named.items()
        if name not in _NO_OTHERS
    }
    return tuple(
        Drafter(method=method, default=method == layer.default, weights=_sized(each)) for method, each in found.items()
    )


def _model(config: Mapping[str, Any]) -> str:
    return next((str(config[key]) for key in _KEYS if config.get(key)), "")


def _sized(found: Weights) -> Weights:
    """A head bears the name of the model that it drafts for, which says nothing of its own size: files alone do."""
    return found if found.size is None or not found.problem else replace(found, size=None)
