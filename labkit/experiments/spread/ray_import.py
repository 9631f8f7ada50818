"""Ray, imported when it is wanted; or what to do about it."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from labkit.core.errors import LabError

INSTALL = "Ray alone: pip install 'ray>=2.50'; with labkit, in its checkout: pip install -e '.[ray]'"
"""labkit is installed from its checkout: by its name, pip would ask an index for whatever is called that."""


def ray_module() -> Any:
    """The ray package. Raises LabError when it is not installed or cannot be imported."""
    if importlib.util.find_spec("ray") is None:
        raise LabError("Ray is not installed here.", f"Install it on every node. {INSTALL}")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing of the lab tells others what it does
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except KeyError as error:
        raise LabError(
            f"Ray cannot be imported beside amdsmi, whose library does not load here: KeyError: {error}",
            "Where there is no AMD GPU: pip uninstall amdsmi. Where there is one: install ROCm's amd-smi-lib.",
        ) from error
    except ImportError as error:
        raise LabError(f"Ray cannot be imported: {error}", f"Install it anew. {INSTALL}") from error
    return ray
