"""The shape of a llama model, as `config.json` and `generation_config.json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def configs(field: Callable[[str], Any], *, tied: bool) -> dict[str, dict[str, Any]]:
    """File name -> document. `tied`: the output layer shares the embedding's weights."""
    begin, end = field("tokenizer.ggml.bos_token_id"), field("tokenizer.ggml.eos_token_id")
    ids = {"bos_token_id": begin, "eos_token_id": end}
    return {
        "config.json": {**_shape(field), **ids, "pad_token_id": end, "tie_word_embeddings": tied},
        "generation_config.json": {**ids, "pad_token_id": end},
    }


def _shape(field: Callable[[str], Any]) -> dict[str, Any]:
    width, heads = field("llama.embedding_length"), field("llama.attention.head_count")
    theta = field("llama.rope.freq_base")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": width,
        "intermediate_size": field("llama.feed_forward_length"),
        "num_hidden_layers": field("llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": field("llama.attention.head_count_kv"),
        "head_dim": width // heads,
        "vocab_size": field("llama.vocab_size"),
        "max_position_embeddings": field("llama.context_length"),
        "rms_norm_eps": round(field("llama.attention.layer_norm_rms_epsilon"), 9),
        "rope_theta": theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": theta},
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "torch_dtype": "bfloat16",
    }
