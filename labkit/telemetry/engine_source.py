"""One engine process's /metrics page as a source of samples: the raw, growing values and the gauges."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.telemetry.engine_metrics import scrape
from labkit.telemetry.names import SAMPLED
from labkit.telemetry.source import Reading


class EngineSource:
    """`name`: `<engine>/<role>`; `url`: its /metrics page. Series that the engine does not have make no rows."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url

    async def read(self) -> Sequence[Reading]:
        page = await scrape(self.url)
        values = ((series, page.value(series)) for series in SAMPLED)
        return [Reading(series.title, series.unit, value) for series, value in values if value is not None]
