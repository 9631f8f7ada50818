"""The tokenizer that is stored in a GGUF file, as `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

_CONTROL = 3
"""GGUF's token type of special tokens."""


def tokenizer(field: Callable[[str], Any]) -> Any:
    """A byte-level BPE `tokenizers.Tokenizer`. SmolLM splits numbers into digits first; GGUF says that by name only."""
    tokens: list[str] = field("tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in field("tokenizer.ggml.merges")]
    made = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=merges))
    made.pre_tokenizer = _splitter(field("tokenizer.ggml.pre"))
    made.decoder = decoders.ByteLevel()
    kinds = zip(tokens, field("tokenizer.ggml.token_type"), strict=True)
    made.add_special_tokens([AddedToken(t, special=True, normalized=False) for t, kind in kinds if kind == _CONTROL])
    return made


def _splitter(name: str) -> Any:
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if name != "smollm":
        return bytes_only
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), bytes_only])


def tokenizer_config(field: Callable[[str], Any]) -> dict[str, Any]:
    """`tokenizer_config.json`: which tokens begin, end and pad."""
    tokens: list[str] = field("tokenizer.ggml.tokens")
    begin, end = (tokens[field(f"tokenizer.ggml.{which}_token_id")] for which in ("bos", "eos"))
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": begin,
        "eos_token": end,
        "pad_token": end,
        "unk_token": tokens[0],
        "model_max_length": field("llama.context_length"),
        "clean_up_tokenization_spaces": False,
    }
