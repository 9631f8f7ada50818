"""config.json of the models that profiles name: all that vLLM's config classes read. Dimensions are the real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_QWEN3 = {
    "head_dim": 128,
    "vocab_size": 151936,
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "torch_dtype": "bfloat16",
}
_QWEN3_235B = _QWEN3 | {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 94,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 1536,
    "norm_topk_prob": True,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "max_position_embeddings": 262144,
    "rope_theta": 5000000,
    "tie_word_embeddings": False,
    "quantization_config": {
        "quant_method": "fp8",
        "fmt": "e4m3",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
    },
}
_QWEN3_06B = _QWEN3 | {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "max_position_embeddings": 40960,
    "rope_theta": 1000000,
    "tie_word_embeddings": True,
}
_EAGLE3 = {
    "architectures": ["Eagle3Speculator"],
    "speculators_model_type": "eagle3",
    "speculators_version": "0.1.0",
    "draft_vocab_size": 64000,
    "norm_before_residual": False,
    "torch_dtype": "bfloat16",
    "speculators_config": {
        "algorithm": "eagle3",
        "default_proposal_method": "greedy",
        "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3, "verifier_accept_k": 1}],
        "verifier": {"name_or_path": "Qwen/Qwen3-235B-A22B-Instruct-2507", "architectures": ["Qwen3MoeForCausalLM"]},
    },
    "transformer_layer_config": _QWEN3
    | {
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 1,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "max_position_embeddings": 262144,
        "rope_theta": 5000000,
    },
}
_SMOLLM2 = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "max_position_embeddings": 8192,
    "rope_theta": 100000,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}
MODELS: dict[str, dict[str, Any]] = {
    "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8": _QWEN3_235B,
    "RedHatAI/Qwen3-235B-A22B-Instruct-2507-speculator.eagle3": _EAGLE3,
    "Qwen/Qwen3-0.6B": _QWEN3_06B,
    "SMOLLM2": _SMOLLM2,
}


def write_configs(root: Path) -> dict[str, str]:
    """A folder with a config.json for every model; names to folders."""
    folders = {}
    for name, config in MODELS.items():
        folder = root / name.replace("/", "--")
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        folders[name] = str(folder)
    return folders
