"""A model of the Hugging Face hub: is it in the local cache, and would the hub answer if it is not?

The cache's layout is huggingface_hub's: `models--OWNER--NAME/snapshots/COMMIT/`. It is read without that library, which
the lab need not have and which an engine brings itself.
"""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 2.0
_DEFAULT = "https://huggingface.co"
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_TRUE = ("1", "ON", "YES", "TRUE")


@dataclass(frozen=True, kw_only=True)
class HubModel:
    """`snapshot`: the model's folder in the cache, None when it is not (wholly) there. `cache`: the folder of all.

    `endpoint`: the hub's address as it may be shown. `reachable`: None when nobody asked; `problem`: why it did not
    answer; `offline`: the variable that forbids to ask. `free`: bytes on the cache's disk.
    """

    model: str
    cache: str
    snapshot: str | None
    endpoint: str
    reachable: bool | None = None
    problem: str = ""
    offline: str = ""
    free: int | None = None


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where the hub's library keeps models."""
    home = environ.get("HF_HOME") or str(Path(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    named = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(named or str(Path(home) / "hub")).expanduser()


def snapshot(model: str, cache: Path) -> Path | None:
    """The newest whole snapshot of `owner/name`; None where there is none."""
    folders = (cache / f"models--{model.replace('/', '--')}" / "snapshots").glob("*")
    whole = [folder for folder in folders if _whole(folder)]
    return max(whole, key=lambda folder: folder.stat().st_mtime, default=None)


def _whole(folder: Path) -> bool:
    """Its configuration, and every file that its index names."""
    index = folder / "model.safetensors.index.json"
    try:
        named = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()) if index.is_file() else set()
    except (OSError, ValueError, KeyError):
        return False
    files = [folder / name for name in named] or [folder / "model.safetensors"]
    return (folder / "config.json").is_file() and all(file.is_file() for file in files)


def endpoint(environ: Mapping[str, str]) -> str:
    """The hub that this environment uses."""
    return (environ.get("HF_ENDPOINT") or _DEFAULT).rstrip("/")


def shown(url: str) -> str:
    """The address without a name and password that it may hold."""
    return re.sub(r"//[^/@]*@", "//", url)


def offline(environ: Mapping[str, str]) -> str:
    """The variable that forbids to ask it; empty when none does."""
    return next((name for name in _OFFLINE if environ.get(name, "").upper() in _TRUE), "")


def answers(url: str, limit_s: float = LIMIT_S) -> str:
    """Why a HEAD of the hub brings no answer within `limit_s` seconds; empty when it does, whatever the answer is."""
    said: list[str] = []
    # A name that no server resolves can take much longer than a socket's own time limit.
    asking = threading.Thread(target=lambda: said.append(_head(url, limit_s)), daemon=True)
    asking.start()
    asking.join(limit_s)
    return said[0] if said else f"no answer within {limit_s:g} s"


def _head(url: str, limit_s: float) -> str:
    if not url.startswith(("http://", "https://")):
        return "it is no http address"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=limit_s):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        return ""
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", "") or error) or type(error).__name__
