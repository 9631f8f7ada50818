"""What an hour of work on a machine costs, from the figures of its price.

    rent: rent_per_gpu_hour * gpus / utilisation
    own:  hardware_price * (1 / years + upkeep) / (8760 * utilisation) + power / 1000 * pue * power_price

Idle hours are paid for by the busy ones (utilisation). Power is counted for the busy hours alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from labkit.core.prices import Price

HOURS_A_YEAR = 8760.0


@dataclass(frozen=True, kw_only=True)
class Hourly:
    """USD for one hour of work on the whole machine, by what they pay for; 0.0 for a part that the kind has not."""

    rent: float = 0.0
    hardware: float = 0.0
    upkeep: float = 0.0
    power: float = 0.0

    @property
    def total(self) -> float:
        return self.rent + self.hardware + self.upkeep + self.power


def hourly(price: Price) -> Hourly:
    """What an hour costs at this price."""
    if price.kind == "rent":
        return Hourly(rent=price.value("rent_per_gpu_hour") * price.gpus / price.value("utilisation"))
    a_busy_hour = price.value("hardware_price") / (HOURS_A_YEAR * price.value("utilisation"))
    return Hourly(
        hardware=a_busy_hour / price.value("years"),
        upkeep=a_busy_hour * price.value("upkeep"),
        power=price.value("power") / 1000 * price.value("pue") * price.value("power_price"),
    )
