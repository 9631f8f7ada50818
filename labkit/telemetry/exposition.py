"""A /metrics page as a Snapshot: parsed by prometheus_client, summed over the engines of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from labkit.core.errors import EngineError
from labkit.telemetry import names
from labkit.telemetry.names import Series

Key = tuple[str, tuple[tuple[str, str], ...]]
"""Sample name and its labels, sorted, without model_name and engine."""
_ANY_ENGINE = ("model_name", "engine")
_GROWS = ("counter", "histogram")


@dataclass(frozen=True, kw_only=True)
class Gauges:
    """What an engine is doing now; None where the page does not say. `kv_usage`: 0 to 1; `block_size`: tokens."""

    running: int | None
    waiting: int | None
    kv_usage: float | None
    num_gpu_blocks: int | None
    block_size: int | None


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One page. `t`: clock seconds when it was read; `started`: process start, Unix seconds, None when not told.

    `growing`: counters, and histograms as their `_count` and `_sum`; `gauges`: the others. `config`: cache_config_info.
    """

    t: float
    started: float | None = None
    growing: Mapping[Key, float] = field(default_factory=dict)
    gauges: Mapping[Key, float] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)

    def value(self, series: Series) -> float | None:
        """The sum over all label sets that `series` picks; None when there is none."""
        growing = total(self.growing, series)
        return total(self.gauges, series) if growing is None else growing

    @property
    def now(self) -> Gauges:
        """The named gauges."""
        running, waiting, kv_usage = (self.value(series) for series in names.GAUGES)
        return Gauges(
            running=whole(running),
            waiting=whole(waiting),
            kv_usage=kv_usage,
            num_gpu_blocks=_number(self.config.get("num_gpu_blocks")),
            block_size=_number(self.config.get("block_size")),
        )


def parse(text: str, t: float = 0.0) -> Snapshot:
    """The page's series. Raises EngineError when it is not in Prometheus text format."""
    growing: dict[Key, float] = {}
    gauges: dict[Key, list[float]] = {}
    config: dict[str, str] = {}
    started: float | None = None
    for kind, sample in _samples(text):
        if sample.name == names.START_TIME:
            started = sample.value
        elif sample.name == names.CONFIG:
            config = config or dict(sample.labels)
        elif kind in _GROWS:
            growing[_key(sample)] = growing.get(_key(sample), 0.0) + sample.value
        else:
            gauges.setdefault(_key(sample), []).append(sample.value)
    flat = {key: sum(v) / (len(v) if key[0] in names.MEANS else 1) for key, v in gauges.items()}
    return Snapshot(t=t, started=started, growing=growing, gauges=flat, config=config)


def total(values: Mapping[Key, float], series: Series) -> float | None:
    """The sum of what `series` picks; None when it picks nothing."""
    picked = [v for (name, labels), v in values.items() if name == series.name and set(series.labels) <= set(labels)]
    return sum(picked) if picked else None


def whole(value: float | None) -> int | None:
    """A count as an int; None stays None."""
    return None if value is None else round(value)


def _samples(text: str) -> Iterator[tuple[str, Sample]]:
    # A vLLM page takes the parser 40 ms, during which no chunk is stamped; without what nobody reads it takes 2.
    lines = (line for line in text.splitlines() if _wanted(line))
    try:
        for family in text_string_to_metric_families("\n".join([*lines, ""])):
            yield from ((family.type, sample) for sample in family.samples)
    except ValueError as error:
        raise EngineError(f"This is not a Prometheus page: {error}", "Is the port that of an engine?") from error


def _wanted(line: str) -> bool:
    used = line.removeprefix("# TYPE ").startswith(names.PREFIXES)
    return used and "_bucket{" not in line and "_created" not in line


def _key(sample: Sample) -> Key:
    return sample.name, tuple(sorted((k, v) for k, v in sample.labels.items() if k not in _ANY_ENGINE))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
