"""What the lab knows of the engines of a run, for its fingerprint: command lines, environment, weights and template."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labkit.core.errors import EngineError
from labkit.engines import weights
from labkit.engines.accepts import engine_python
from labkit.engines.installed import installation
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
    return {**about, **_engine_packages(profile), **({"gpus": gpus} if gpus else {})}


def _engine_packages(profile: Profile) -> dict[str, Any]:
    """What is installed beside an engine that has a Python of its own; labkit's own is told by the host's part.

    Nothing where the engine's Python does not say: the run then does not know its engine's version.
    """
    python = engine_python(profile) if profile.engine.command != "python" else None
    try:
        return {"engine_packages": dict(installation(python).packages)} if python else {}
    except EngineError:
        return {}


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
