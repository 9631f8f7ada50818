"""Where things live. The only reader of LABKIT_* path variables.

| what      | variable           | default                                   |
|-----------|--------------------|-------------------------------------------|
| runs      | LABKIT_RUNS        | `runs/` of the checkout, else ./runs      |
| models    | LABKIT_MODELS      | the user's cache folder, `labkit/models`  |
| state     | LABKIT_STATE       | the user's state folder, `labkit`         |
| data      | LABKIT_DATA        | `data/` beside the labkit package         |
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_PROJECT = Path(__file__).resolve().parents[2]
"""The folder that holds the labkit package: the checkout, for everyone who installed with `-e`."""


def _folder(variable: str, default: Path) -> Path:
    return Path(os.environ.get(variable) or default).expanduser().resolve()


def runs_dir() -> Path:
    """The folder of run folders, the same for CLI, app and notebooks wherever they run; may not exist yet."""
    return _folder("LABKIT_RUNS", (_PROJECT if (_PROJECT / "pyproject.toml").is_file() else Path()) / "runs")


def models_dir() -> Path:
    """The folder of converted models; may not exist yet."""
    return _folder("LABKIT_MODELS", Path(platformdirs.user_cache_dir("labkit")) / "models")


def state_dir() -> Path:
    """The fleet registry, locks and logs of engines that are up; may not exist yet."""
    return _folder("LABKIT_STATE", Path(platformdirs.user_state_dir("labkit")))


def data_dir() -> Path:
    """Tasks, recordings and claims that are shipped with the project."""
    return _folder("LABKIT_DATA", _PROJECT / "data")
