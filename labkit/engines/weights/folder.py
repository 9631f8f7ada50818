"""A folder of the user's own as a model: is everything in it that an engine needs?"""

from __future__ import annotations

import json
from pathlib import Path

from labkit.core.errors import WeightsError

_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tekken.json")


def missing(folder: Path) -> list[str]:
    """What the folder lacks, in words; empty when an engine can load it."""
    lacks = []
    if not (folder / "config.json").is_file():
        lacks.append("config.json")
    if not any(folder.glob("*.safetensors")):
        lacks.append("*.safetensors (the weights)")
    if not any((folder / name).is_file() for name in _TOKENIZERS) and not _is_head(folder):
        lacks.append(f"a tokenizer ({' or '.join(_TOKENIZERS)})")
    return lacks


def _is_head(folder: Path) -> bool:
    """A drafter's head is published without a tokenizer: it uses that of the model that it was trained for."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return bool(config.get("speculators_config")) or any(
            "eagle" in name.lower() for name in config["architectures"]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def checked(name: str) -> Path:
    """The absolute path of the model folder `name`. Raises WeightsError naming what is missing."""
    folder = Path(name).expanduser().resolve()
    if not folder.is_dir():
        raise WeightsError(f"model folder {folder} does not exist.", "Models with a name: labkit models list")
    if lacks := missing(folder):
        raise WeightsError(
            f"model folder {folder} lacks {', '.join(lacks)}.",
            "A Hugging Face folder with safetensors weights is needed; a GGUF file has to be converted first.",
        )
    return folder
