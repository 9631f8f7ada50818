"""Bytes of KV cache per token, from a configuration and a profile; unknown where either does not say."""

import json
from pathlib import Path

import pytest

from labkit.engines.kv_bytes import kv_bytes_per_token
from labkit.engines.profiles import Profile, load_profile

CONFIG = {"num_hidden_layers": 30, "num_key_value_heads": 3, "head_dim": 64, "torch_dtype": "bfloat16"}


def profile(folder: Path, config: dict, **flags: str) -> Profile:
    (folder / "config.json").write_text(json.dumps(config))
    known = load_profile("cpu-smollm2")
    model = known.model.model_copy(update={"weights": None, "path": str(folder)})
    engine = known.engine.model_copy(update={"flags": flags})
    return known.model_copy(update={"model": model, "engine": engine})


@pytest.mark.parametrize(
    ("flags", "width"),
    [
        ({}, 2),
        ({"dtype": "auto"}, 2),
        ({"dtype": "float32"}, 4),
        ({"dtype": "float32", "kv-cache-dtype": "fp8"}, 1),
        ({"dtype": "bfloat16", "kv-cache-dtype": "auto"}, 2),
    ],
)
def test_the_caches_own_dtype_counts_then_the_engines_then_the_models(tmp_path: Path, flags: dict, width: int):
    assert kv_bytes_per_token(profile(tmp_path, CONFIG, **flags)) == 2 * 30 * 3 * 64 * width


def test_heads_are_found_in_older_configurations(tmp_path: Path):
    old = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "torch_dtype": "float16"}
    assert kv_bytes_per_token(profile(tmp_path, old)) == 2 * 2 * 4 * 8 * 2


@pytest.mark.parametrize(
    "config", [{}, {**CONFIG, "kv_lora_rank": 512}, {**CONFIG, "torch_dtype": "int3"}, {"torch_dtype": "float16"}]
)
def test_what_is_not_known_is_null(tmp_path: Path, config: dict):
    assert kv_bytes_per_token(profile(tmp_path, config)) is None


def test_a_model_that_is_not_on_this_machine_is_null():
    assert kv_bytes_per_token(load_profile("mi300x-8-qwen3-235b")) is None
