"""A series of a /metrics page and what picks it; and what an engine calls the quantities that the lab knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Series:
    """One series and what picks it: sample name, labels beside model and engine, unit.

    `without`: labels that it must not have. `scale`: factor from what the page says to `unit`. `born_late`: a counter
    that the engine writes from its first increment on, so that it is 0 where the page does not have it.
    """

    name: str
    unit: str
    labels: Labels = ()
    without: Labels = ()
    scale: float = 1.0
    born_late: bool = False

    @property
    def title(self) -> str:
        """As Prometheus writes it: `name{label="value"}`."""
        inner = ",".join(f'{key}="{value}"' for key, value in self.labels)
        return f"{self.name}{{{inner}}}" if inner else self.name

    def picks(self, name: str, labels: Labels) -> bool:
        """Whether the sample of this name and these labels is part of it."""
        return name == self.name and set(self.labels) <= set(labels) and not set(self.without) & set(labels)


@dataclass(frozen=True, kw_only=True)
class EngineNames:
    """What one kind of engine calls the lab's quantities.

    `counts`, `times`: by the field of engine_metrics.Counts that holds their growth; a quantity that the engine does
    not tell is not there, and is None. `start`: gauges that differ from one start of the process to the next.
    `blocks`, `block_size`: gauges, where they are not labels of vLLM's cache_config_info.
    """

    prefix: str
    counts: Mapping[str, Series]
    times: Mapping[str, Series]
    running: Series
    waiting: Series
    kv_usage: Series
    per_position: str | None = None
    start: str | None = None
    blocks: Series | None = None
    block_size: Series | None = None
    born_late: tuple[Series, ...] = field(init=False)

    def __post_init__(self) -> None:
        late = tuple(each for each in (*self.counts.values(), *self.times.values()) if each.born_late)
        object.__setattr__(self, "born_late", late)

    @property
    def gauges(self) -> tuple[Series, Series, Series]:
        """What the sampler keeps of a page: running, waiting, KV usage."""
        return self.running, self.waiting, self.kv_usage
