"""A /metrics page as a Snapshot: parsed by prometheus_client, summed over the engines of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from labkit.core.errors import EngineError
from labkit.telemetry import names
from labkit.telemetry.engine_names import KV_USAGES, VLLM, names_of
from labkit.telemetry.series import EngineNames, Labels, Series

Key = tuple[str, Labels]
"""Sample name and its labels, sorted, without those that say whose it is."""
_ANY_ENGINE = frozenset(
    {"model_name", "engine"} | {"engine_type", "tp_rank", "pp_rank", "moe_ep_rank", "dp_rank", "pid"}  # SGLang's
)
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
    `engine`: whose names the series have.
    """

    t: float
    started: float | None = None
    growing: Mapping[Key, float] = field(default_factory=dict)
    gauges: Mapping[Key, float] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    engine: EngineNames = VLLM

    def value(self, series: Series) -> float | None:
        """The sum over all label sets that `series` picks; None when there is none."""
        growing = total(self.growing, series)
        return total(self.gauges, series) if growing is None else growing

    @property
    def now(self) -> Gauges:
        """The named gauges."""
        running, waiting, kv_usage = (self.value(series) for series in self.engine.gauges)
        return Gauges(
            running=whole(running),
            waiting=whole(waiting),
            kv_usage=kv_usage,
            num_gpu_blocks=self._told(self.engine.blocks, "num_gpu_blocks"),
            block_size=self._told(self.engine.block_size, "block_size"),
        )

    @property
    def counters(self) -> dict[str, float | None]:
        """The named quantities that only grow, as they stand; None where the page does not say."""
        known = {**self.engine.counts, **self.engine.times}
        return {name: self.value(known[name]) if name in known else None for name in (*names.COUNTS, *names.TIMES)}

    def _told(self, gauge: Series | None, label: str) -> int | None:
        return whole(self.value(gauge)) if gauge else _number(self.config.get(label))


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
    flat = {key: sum(v) / (len(v) if key[0] in KV_USAGES else 1) for key, v in gauges.items()}
    engine = names_of(name for name, _ in (*growing, *flat))
    growing |= _unborn(engine, growing, flat)
    return Snapshot(t=t, started=started, growing=growing, gauges=flat, config=config, engine=engine)


def _unborn(engine: EngineNames, growing: Mapping[Key, float], gauges: Mapping[Key, float]) -> dict[Key, float]:
    """Zeros for counters that an engine which is there has not yet written; none for a page of no engine."""
    if not any(name.startswith(engine.prefix) for name, _ in (*growing, *gauges)):
        return {}
    late = (series for series in engine.born_late if total(growing, series) is None)
    return {(series.name, series.labels): 0.0 for series in late}


def total(values: Mapping[Key, float], series: Series) -> float | None:
    """The sum of what `series` picks; None when it picks nothing."""
    picked = [value for (name, labels), value in values.items() if series.picks(name, labels)]
    return sum(picked) * series.scale if picked else None


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
