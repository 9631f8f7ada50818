"""One engine process's gauges as a source of samples: how full its KV cache is, how many requests run and wait.

Read while requests stream, so that it must cost next to nothing. vLLM takes 5 ms to write its page of 58 KB, and the
lab 2 ms to parse it, in which no chunk is sent or stamped. With a slash, `/metrics/` is prometheus_client's own
application, which writes only the series that are named: half a millisecond in all. SGLang's page is put together from
several processes' files and comes out empty when series are named, so it is read whole. Growing values are not sampled:
the meter reads them around each step.
"""

from __future__ import annotations

from collections.abc import Sequence

import aiohttp

from labkit.core.errors import EngineError
from labkit.telemetry.engine_metrics import Snapshot, scrape
from labkit.telemetry.engine_names import VLLM
from labkit.telemetry.source import Reading

_ONLY = "&".join(f"name[]={series.name}" for series in VLLM.gauges)


class EngineSource:
    """`name`: `<engine>/<role>`; `url`: its /metrics page. Series that the engine does not have make no rows."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self._whole = url
        self._url = f"{url.rstrip('/')}/?{_ONLY}"

    async def read(self) -> Sequence[Reading]:
        page = await self._page()
        values = ((series, page.value(series)) for series in page.engine.gauges)
        return [Reading(series.title, series.unit, value) for series, value in values if value is not None]

    async def _page(self) -> Snapshot:
        """The named series; of a server that does not know this address, or them, the whole page from then on."""
        try:
            page = await scrape(self._url)
            if page.gauges or self._url == self._whole:
                return page
        except EngineError as error:
            if self._url == self._whole or not isinstance(error.__cause__, aiohttp.ClientResponseError):
                raise
        self._url = self._whole
        return await scrape(self._url)
