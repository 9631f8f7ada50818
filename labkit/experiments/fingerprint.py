"""What the lab knows of the engines of a run, for its fingerprint: command lines, environment, weights and template."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labkit.engines import weights
from labkit.engines.kv_bytes import kv_bytes_per_token
from labkit.engines.plan import Plan
from labkit.engines.profiles import Profile
from labkit.store.fingerprint import engine_fingerprint
from labkit.telemetry.energy import gpus_alike

_TEMPLATE, _MANIFEST = "chat_template.jinja", "manifest.json"


def fingerprint(profile: Profile, plans: Sequence[Plan]) -> dict[str, Any]:
    """Profile, model, each distinct engine by its plan's key, and the machine's GPUs. Paths are cut to their last part.

    Raises WeightsError when the profile's weights are not there, which is better heard now than from an engine.
    """
    folder = weights.path(profile.model.weights) if profile.model.weights else None
    model_hash, template = _model_hash(folder), _text(folder, _TEMPLATE)
    engines = {plan.key: _processes(plan) for plan in plans}
    known = {
        key: engine_fingerprint(processes, model_hash=model_hash, chat_template=template)
        for key, processes in engines.items()
    }
    kv_bytes = kv_bytes_per_token(profile)
    about = {"profile": profile.name, "model": profile.model.served, "kv_bytes_per_token": kv_bytes, "engines": known}
    gpus = gpus_alike()
    return {**about, "gpus": gpus} if gpus else about


def _processes(plan: Plan) -> list[dict[str, Any]]:
    """With port markers in place of ports: the next run has others."""
    return [{**process.to_dict(), "argv": [_short(word) for word in process.argv]} for process in plan.layout]


def _short(word: str) -> str:
    return Path(word).name if word.startswith("/") else word


def _model_hash(folder: Path | None) -> str | None:
    """Hash of the manifest, which has the hash of every file."""
    manifest = _text(folder, _MANIFEST)
    return None if manifest is None else hashlib.sha256(manifest.encode()).hexdigest()


def _text(folder: Path | None, name: str) -> str | None:
    path = folder / name if folder else None
    return path.read_text(encoding="utf-8") if path and path.is_file() else None
