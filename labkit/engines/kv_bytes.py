"""How many bytes of KV cache one token takes: the model's configuration times what the profile makes of it.

Keys and values of every layer: 2 x layers x KV heads x head size x bytes of the cache's dtype, over all GPUs together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from labkit.core.errors import WeightsError
from labkit.engines import weights
from labkit.engines.profiles import Profile

_BYTES = {"float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}


def kv_bytes_per_token(profile: Profile) -> int | None:
    """Bytes per token; None where the configuration is not on this machine, or has another kind of cache."""
    shape = kv_shape(profile, _config(profile))
    return shape.bytes_per_token if shape else None


class KvShape(NamedTuple):
    """What a token keeps: keys and values of `layers` x `heads` x `size` numbers of `width` bytes each."""

    layers: int
    heads: int
    size: int
    width: int

    @property
    def bytes_per_token(self) -> int:
        """Over all GPUs together."""
        return 2 * self.layers * self.heads * self.size * self.width

    def __str__(self) -> str:
        parts = f"2 x {self.layers} layers x {self.heads} KV heads x {self.size} numbers x {self.width} bytes"
        return f"{parts} = {self.bytes_per_token:,} bytes a token"


def kv_shape(profile: Profile, config: Mapping[str, Any]) -> KvShape | None:
    """Of a model's configuration under this profile; None where it does not say, or has another kind of cache."""
    if not config or "kv_lora_rank" in config:  # latent attention keeps something else
        return None
    heads = config.get("num_key_value_heads") or config.get("num_attention_heads")
    size = config.get("head_dim") or _head_size(config)
    width = _BYTES.get(_dtype(profile, config))
    layers = config.get("num_hidden_layers")
    return KvShape(layers, heads, size, width) if layers and heads and size and width else None


def _config(profile: Profile) -> dict[str, Any]:
    try:
        folder = weights.path(profile.model.weights) if profile.model.weights else Path(str(profile.model.path))
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (WeightsError, OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _head_size(config: Mapping[str, Any]) -> int | None:
    hidden, heads = config.get("hidden_size"), config.get("num_attention_heads")
    return hidden // heads if hidden and heads else None


def _dtype(profile: Profile, config: Mapping[str, Any]) -> str:
    """The first that says something: the cache's own dtype, the engine's, the model's."""
    flags = profile.engine.flags
    asked = [flags.get("kv-cache-dtype"), flags.get("dtype"), config.get("dtype"), config.get("torch_dtype")]
    return next((str(dtype) for dtype in asked if dtype and dtype != "auto"), "")
