"""What the models of the shipped profiles keep of a token, from their own config.json, so that nothing need be fetched.

The names are those of the file. A test holds the small model to the file that `labkit models fetch` brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.engines.kv_bytes import KvShape, kv_shape
from labkit.engines.profiles import Profile

CONFIGS: dict[str, Mapping[str, Any]] = {
    "smollm2-135m-instruct": {
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "hidden_size": 576,
        "torch_dtype": "bfloat16",
    },
    "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8": {
        "num_hidden_layers": 94,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "hidden_size": 4096,
        "head_dim": 128,
        "torch_dtype": "bfloat16",
    },
}
"""By the name under which a profile knows the model."""


def shape_of(profile: Profile) -> KvShape | None:
    """What a token of the profile's model keeps, in the profile's cache dtype; None for a model that is not here."""
    return kv_shape(profile, CONFIGS.get(profile.model.weights or str(profile.model.path), {}))
