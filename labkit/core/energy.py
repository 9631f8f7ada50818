"""How energy stands in a run's telemetry: `<device>/energy` in J and `<device>/power` in W, one pair a device.

`energy` counts up from the first reading of the run, overflow of the hardware's counter already undone. `idle_power`
is what the device drew, on average, before the run sent anything.
"""

from __future__ import annotations

ENERGY = "energy"
POWER = "power"
IDLE_POWER = "idle_power"


def series(device: str, what: str) -> str:
    """The name of a device's series, such as `gpu0/energy`."""
    return f"{device}/{what}"
