"""How many bytes of KV cache one token takes: the model's configuration times what the profile makes of it.

Keys and values of every layer: 2 x layers x KV heads x head size x bytes of the cache's dtype, over all GPUs together.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labkit.core.errors import WeightsError
from labkit.engines import weights
from labkit.engines.profiles import Profile

_BYTES = {"float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}


def kv_bytes_per_token(profile: Profile) -> int | None:
    """Bytes per token; None where the configuration is not on this machine, or has another kind of cache."""
    config = _config(profile)
    if not config or "kv_lora_rank" in config:  # latent attention keeps something else
        return None
    heads = config.get("num_key_value_heads") or config.get("num_attention_heads")
    size = config.get("head_dim") or _head_size(config)
    width = _BYTES.get(_dtype(profile, config))
    layers = config.get("num_hidden_layers")
    return 2 * layers * heads * size * width if layers and heads and size and width else None


def _config(profile: Profile) -> dict[str, Any]:
    try:
        folder = weights.path(profile.model.weights) if profile.model.weights else Path(str(profile.model.path))
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (WeightsError, OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _head_size(config: dict[str, Any]) -> int | None:
    hidden, heads = config.get("hidden_size"), config.get("num_attention_heads")
    return hidden // heads if hidden and heads else None


def _dtype(profile: Profile, config: dict[str, Any]) -> str:
    """The first that says something: the cache's own dtype, the engine's, the model's."""
    flags = profile.engine.flags
    asked = [flags.get("kv-cache-dtype"), flags.get("dtype"), config.get("dtype"), config.get("torch_dtype")]
    return next((str(dtype) for dtype in asked if dtype and dtype != "auto"), "")
