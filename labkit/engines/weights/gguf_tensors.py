"""Tensors: llama.cpp's names and layout to Hugging Face's, expanded to float32 and rounded to bfloat16."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from gguf import dequantize
from numpy.typing import NDArray
from safetensors import TensorSpec, serialize_file

_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_INNER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def hf_name(name: str) -> str:
    """`blk.3.attn_q.weight` -> `model.layers.3.self_attn.q_proj.weight`. Raises ValueError on an unknown name."""
    base, _, end = name.rpartition(".")
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)", base)
    known = _INNER.get(block[2]) if block else _OUTER.get(base)
    if known is None or end != "weight":
        raise ValueError(f"no Hugging Face name is known for the tensor {name!r}")
    return f"model.layers.{block[1]}.{known}.weight" if block else f"{known}.weight"


def hf_values(tensor: Any, name: str, heads: int, kv_heads: int) -> NDArray[np.uint16]:
    """The values of a GGUF tensor as bfloat16 bits, shape (out, in) or (out,)."""
    values = np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
    if name.endswith("q_proj.weight"):
        values = unpermute(values, heads)
    elif name.endswith("k_proj.weight"):
        values = unpermute(values, kv_heads)
    return bfloat16_bits(values)


def unpermute(values: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Undo llama.cpp's reordering of rotary rows: it interleaves the two halves that Hugging Face keeps apart."""
    rows = values.shape[0]
    return values.reshape(heads, rows // heads // 2, 2, -1).swapaxes(1, 2).reshape(values.shape)


def bfloat16_bits(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper 16 bits of each float32, rounded to nearest, ties to even (IEEE 754). Raises ValueError on NaN."""
    if not np.isfinite(values).all():
        raise ValueError("a weight is not a finite number: the file is damaged")
    bits = np.ascontiguousarray(values).view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + even) >> np.uint32(16)).astype(np.uint16)


def save(tensors: dict[str, NDArray[np.uint16]], file: Path) -> None:
    """Write a safetensors file whose tensors are bfloat16. The arrays outlive the call, as the library demands."""
    specs = {
        name: TensorSpec(dtype="bfloat16", shape=bits.shape, data_ptr=bits.ctypes.data, data_len=bits.nbytes)
        for name, bits in tensors.items()
    }
    serialize_file(specs, file, metadata={"format": "pt"})
    file.chmod(0o644)
