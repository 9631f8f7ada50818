"""config.json of the models that the shipped profiles name, so that an engine can be asked without fetching anything.

One TOML file a model: `model`, the name that a profile uses, and `[config]`, what vLLM's config classes read of the
model's own config.json. Where a value could not be seen in a publication, its line says so. `[added_tokens]`: words
that a check of the engine looks up in the tokenizer, with their ids; they travel as `ADDED_TOKENS` beside the rest.

    model_configs()["Qwen/Qwen3-8B"]["num_hidden_layers"]
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ADDED_TOKENS = "_added_tokens"
_HERE = Path(__file__).parent


@functools.cache
def model_configs() -> Mapping[str, Mapping[str, Any]]:
    """By the name under which a profile knows the model, sorted. Read once; not to be changed."""
    read = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(_HERE.glob("*.toml"))]
    return {one["model"]: _with_tokens(one) for one in sorted(read, key=lambda one: str(one["model"]))}


def _with_tokens(one: Mapping[str, Any]) -> Mapping[str, Any]:
    tokens = one.get("added_tokens")
    return {**one["config"], ADDED_TOKENS: tokens} if tokens else one["config"]
