"""The three questions about a model: which are there, fetch it, where is it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from labkit.core.errors import WeightsError
from labkit.core.names import pick
from labkit.core.paths import models_dir
from labkit.core.progress import OnProgress, Progress, silent
from labkit.engines.weights import converted, folder, hub, manifest
from labkit.engines.weights.registry import DEFAULT, MODELS, ModelSpec

Kind = Literal["name", "folder", "hub"]


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """A model that the lab knows by name. `problem`: why it is not ready to use; empty when it is. `disk_mb`: MB."""

    name: str
    about: str
    licence: str
    disk_mb: int
    folder: Path
    problem: str

    @property
    def fetched(self) -> bool:
        return not self.problem


def list_models() -> list[ModelInfo]:
    """The models that have a name, and whether each is ready (file sizes are compared, not checksums)."""
    return [_info(spec) for spec in MODELS.values()]


def _info(spec: ModelSpec) -> ModelInfo:
    where = models_dir() / spec.name
    problem = manifest.problem(where, spec.recipe, checksums=False)
    return ModelInfo(
        name=spec.name, about=spec.about, licence=spec.licence, disk_mb=spec.disk_mb, folder=where, problem=problem
    )


def fetch(name: str = DEFAULT, on_progress: OnProgress = silent) -> Path:
    """Make the model ready and return its folder; what is there and whole is left alone.

    `name`: a name of the lab, a folder or a Hugging Face id. Raises UnknownName or WeightsError. Reports the stages
    `wait`, `verify`, `download` and `convert` (done and total are tensors).
    """
    kind = kind_of(name)
    if kind == "folder":
        return folder.checked(name)
    if kind == "hub":
        on_progress(Progress(stage="download", message=f"{name} from the Hugging Face hub"))
        return folder.checked(str(hub.snapshot(name, offline=False)))
    return converted.ensure(_spec(name), models_dir(), on_progress)


def path(name: str = DEFAULT, *, verify: bool = False) -> Path:
    """The folder of a model that has been fetched. `verify`: compare checksums too, not only sizes.

    Raises UnknownName, or WeightsError saying what is wrong and how to fetch it.
    """
    kind = kind_of(name)
    if kind == "folder":
        return folder.checked(name)
    if kind == "hub":
        return folder.checked(str(hub.snapshot(name, offline=True)))
    spec, where = _spec(name), models_dir() / name
    if problem := manifest.problem(where, spec.recipe, checksums=verify):
        raise WeightsError(f"model {name} is not ready in {where}: {problem}.", f"labkit models fetch {name}")
    return where


def kind_of(name: str) -> Kind:
    """Which of the three kinds of name this is: an existing folder or a path, a Hugging Face id, or a name."""
    if name in MODELS:
        return "name"
    if name.startswith((".", "/", "~")) or Path(name).is_dir():
        return "folder"
    return "hub" if re.fullmatch(r"[\w.-]+/[\w.-]+", name) else "name"


def _spec(name: str) -> ModelSpec:
    return pick("model", name, MODELS, "labkit models list (a folder or a Hugging Face id owner/name will do too)")
