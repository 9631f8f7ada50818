"""Is there a GPU of the vendor that a plan is for? Asked before a start: vLLM would load for a minute and say less.

    require_gpus(plan, device_missing)

Only the driver's device files are looked at. How many GPUs there are, of which kind and whose driver, the doctor tells.
"""

from __future__ import annotations

from pathlib import Path

from labkit.core.errors import EngineError
from labkit.engines.plan_records import Plan

_DEV = Path("/dev")
_NVIDIA = ("nvidia[0-9]*", "nvidiactl", "dxg")
"""The driver's own, and the one through which a Linux inside of Windows reaches it."""
_WORDS = {"amd": "AMD", "nvidia": "NVIDIA"}


def device_missing(vendor: str, dev: Path = _DEV) -> str:
    """The device file without which no program reaches a GPU of `vendor`, when it is not there; else empty."""
    if vendor == "amd":
        return "" if (dev / "kfd").exists() else str(dev / "kfd")
    if vendor == "nvidia":
        return "" if any(found for name in _NVIDIA for found in dev.glob(name)) else str(dev / "nvidia0")
    return ""


def require_gpus(plan: Plan, missing: str) -> None:
    """Raises EngineError when `missing`, a device file that the plan's GPUs have, is not there; empty: nothing is."""
    if missing:
        raise EngineError(
            f"profile {plan.profile} is for {_WORDS[plan.vendor]} GPUs and there is no {missing} here; what else is "
            f"missing tells: labkit doctor --profile {plan.profile}",
            "There is no such GPU, no driver for it, or this container was not given it. A profile that runs without "
            "one: --profile cpu-smollm2.",
        )
