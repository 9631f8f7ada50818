"""GGUF file -> folder that vLLM, SGLang and transformers load.

Run as `python -m labkit.engines.weights.convert FILE FOLDER TEMPLATE`: a program of its own, because it needs the
packages of the `convert` extra and about 1 GB of memory, which the caller gets back when it ends. Prints one JSON line
per tensor, `{"done": 3, "total": 272}`. Llama architecture only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gguf import GGUFReader

from labkit.engines.weights.gguf_config import configs
from labkit.engines.weights.gguf_tensors import hf_name, hf_values, save
from labkit.engines.weights.gguf_tokenizer import tokenizer, tokenizer_config

Field = Callable[[str], Any]
"""The value of a GGUF metadata key."""


def convert(source: Path, folder: Path, template: str, on_tensor: Callable[[int, int], None]) -> None:
    """Write the Hugging Face files of the GGUF file `source` into `folder`. Raises ValueError unless it is a llama."""
    reader = GGUFReader(source)

    def field(key: str) -> Any:
        return reader.fields[key].contents()

    if (kind := field("general.architecture")) != "llama":
        raise ValueError(f"architecture {kind!r} is not supported; only llama is")
    tensors = {}
    for done, tensor in enumerate(reader.tensors, 1):
        name = hf_name(tensor.name)
        tensors[name] = hf_values(
            tensor, name, field("llama.attention.head_count"), field("llama.attention.head_count_kv")
        )
        on_tensor(done, len(reader.tensors))
    save(tensors, folder / "model.safetensors")
    tokenizer(field).save(str(folder / "tokenizer.json"))
    documents = {
        **configs(field, tied="lm_head.weight" not in tensors),
        "tokenizer_config.json": tokenizer_config(field),
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")


def main() -> None:
    source, folder, template = map(Path, sys.argv[1:4])

    def tell(done: int, total: int) -> None:
        print(json.dumps({"done": done, "total": total}), flush=True)

    convert(source, folder, template.read_text(encoding="utf-8"), tell)


if __name__ == "__main__":
    main()
