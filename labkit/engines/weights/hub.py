"""Models by Hugging Face id, through the hub's own library (optional) and in its own cache."""

from __future__ import annotations

from pathlib import Path

from labkit.core.errors import WeightsError

_PATTERNS = ["*.json", "*.safetensors", "*.jinja", "*.model", "*.txt", "*.py"]
"""What an engine reads; leaves out copies of the weights in other formats."""


def snapshot(model: str, *, offline: bool, cache: Path | None = None) -> Path:
    """The snapshot folder of `owner/name`, downloaded unless `offline`. `cache`: None is the hub's default folder.

    Raises WeightsError when the library is missing, the model is unknown or gated, or the hub cannot be reached.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        hint = "pip install huggingface_hub, or give the path of a folder that has the model."
        raise WeightsError(f"{model}: models by Hugging Face id need the package huggingface_hub.", hint) from None
    try:
        return Path(snapshot_download(model, cache_dir=cache, local_files_only=offline, allow_patterns=_PATTERNS))
    except LocalEntryNotFoundError:
        raise _absent(model, offline) from None
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        hint = "Check the id; for a gated model accept its terms on the hub and run: hf auth login"
        raise WeightsError(f"{model}: the Hugging Face hub refuses: {first}", hint) from None


def _absent(model: str, offline: bool) -> WeightsError:
    if offline:
        return WeightsError(f"{model} has not been fetched.", f"labkit models fetch {model}")
    return WeightsError(
        f"{model}: the Hugging Face hub cannot be reached and the model is not in its cache.",
        "Check the network and HF_ENDPOINT / HF_HUB_OFFLINE, or give the path of a folder that has the model.",
    )
