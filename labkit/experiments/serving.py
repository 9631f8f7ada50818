"""Where the runner gets its engines from: a Protocol, so that a run does not know who starts them.

`FleetProvider` (fleet_provider.py) starts what a profile and an arm mean; `StaticProvider` takes engines that run
already, such as FakeEngine or a server on another machine; `attached` looks at such a server first, and says what of it
can be measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from labkit.core.arms import Arm
from labkit.core.clock import Clock
from labkit.core.errors import BadInput
from labkit.core.progress import OnProgress, silent
from labkit.engines.bearer import Bearer
from labkit.engines.client import EngineClient
from labkit.engines.dialect import Dialect, dialect_of
from labkit.engines.watched import Watch
from labkit.store.masking import without_secrets

if TYPE_CHECKING:
    from labkit.store.runs import RunWriter

SwitchedBy = Literal["flag", "salt"]


@dataclass(frozen=True, kw_only=True)
class Served:
    """An arm, served. `switched_by`: how prefix caching is set for it; `salt` means a fresh cache_salt per request.

    `metrics`: role to the URL of its /metrics; empty when it has none. `block_size`: of the KV cache, in tokens; None
    when it is not known. `logs`: role to the file that the process writes. `plan`: what was started, for the record.
    `ours`: this run started it. `neighbours`: other engines that were up on the machine, and may have cost it time.
    `pids`: the leaders of its processes; empty when they run elsewhere or are not known. `trouble`: what went wrong on
    the way and was got over, a sentence each. `attached`: what is known of an engine that somebody else started; None
    where the lab knows its plan or was told nothing. `bearer`: the key that its requests carry; nothing keeps it.
    """

    engine: str
    base_url: str
    model: str
    switched_by: SwitchedBy
    metrics: Mapping[str, str] = field(default_factory=dict)
    block_size: int | None = None
    logs: Mapping[str, str] = field(default_factory=dict)
    plan: Mapping[str, Any] | None = None
    ours: bool = False
    neighbours: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    trouble: tuple[str, ...] = ()
    attached: Mapping[str, Any] | None = None
    bearer: Bearer | None = field(default=None, repr=False)

    def client(self, clock: Clock, watch: Watch | None = None) -> EngineClient:
        """Who sends to it. `watch`: as EngineClient's."""
        return EngineClient(self.base_url, self.model, clock, watch=watch, bearer=self.bearer, dialect=self.dialect)

    @property
    def dialect(self) -> Dialect:
        """Whose engine it is, where its API differs."""
        return dialect_of(self.plan, self.attached)

    def facts(self) -> dict[str, Any]:
        """What the run folder keeps of it: no secret."""
        names = ("engine", "base_url", "model", "switched_by", "block_size", "plan", "ours", "neighbours", "trouble")
        return {name: without_secrets(getattr(self, name)) for name in names}

    def tell(self, writer: RunWriter, **about: Any) -> None:
        """Write who serves from now on: the event `serving`, and `attached` of an engine that somebody else started."""
        writer.event("serving", **about, **self.facts())
        if self.attached is not None:
            writer.event("attached", **about, engine=self.engine, **without_secrets(self.attached))


class EngineProvider(Protocol):
    """Engines for arms. One arm is served at a time; asking for the next one may end the engine of the last."""

    def fingerprint(self, arms: Sequence[Arm]) -> dict[str, Any]:
        """What the run's fingerprint should say of the engines of these arms. Raises WeightsError: nothing to serve."""
        ...

    def starts(
        self, arms: Sequence[Arm], spec_methods: Sequence[str | None] = (), *, fresh: bool = False
    ) -> list[float]:
        """For each of these arms, served in this order: seconds of the engine start before it; 0: none.

        `spec_methods`: the drafter of each, where it is not the provider's own; empty: none has one. `fresh`: `renew`
        is called before each.
        """
        ...

    async def renew(self) -> None:
        """Before `serve`: end the engine of the block before, if this run started it, so that the next is a new start.

        An engine that was up before the run, or that somebody else wants, stays and is used again.
        """
        ...

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        """An engine that serves this arm. Raises EngineError when it cannot be had."""
        ...

    def locked(self, served: Served, owner: str) -> AbstractContextManager[object]:
        """Keep everybody else from measuring on it. Raises EngineBusy."""
        ...

    def check(self, served: Served) -> None:
        """Raises EngineDied, with the end of its log, when a process of it is gone."""
        ...

    async def close(self, *, keep: bool) -> list[str]:
        """End what this run started, or all but the last of it (`keep`). Returns the ids of engines left up."""
        ...


@dataclass(frozen=True)
class StaticProvider:
    """Engines that run already: label of an arm to its base URL. Starts, ends and locks nothing.

    An arm with a drafter of its own may have one of its own, under `ARM DRAFTER`.

    An arm without prefix caching is salted per request when `salted`: the server is taken to have caching on.
    """

    urls: Mapping[str, str]
    model: str
    block_size: int | None = None
    salted: bool = True

    def fingerprint(self, arms: Sequence[Arm]) -> dict[str, Any]:
        urls = {arm.label: self.urls.get(arm.label) for arm in arms}
        return {"engines": without_secrets(urls), "model": self.model}

    def starts(
        self, arms: Sequence[Arm], spec_methods: Sequence[str | None] = (), *, fresh: bool = False
    ) -> list[float]:
        return [0.0] * len(arms)

    async def renew(self) -> None:
        """They are not ours to end: every block of an arm is served by the same start."""

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        url = self.urls.get(f"{arm.label} {spec_method}", self.urls.get(arm.label, "")).rstrip("/")
        if not url:
            raise BadInput("arms", arm.label, ", ".join(self.urls), "Name the engine of every arm that is asked for.")
        return Served(
            engine=url.removeprefix("http://"),
            base_url=url,
            model=self.model,
            switched_by="salt" if self.salted and not arm.prefix_caching else "flag",
            metrics={"engine": f"{url}/metrics"},
            block_size=self.block_size,
        )

    def locked(self, served: Served, owner: str) -> AbstractContextManager[object]:
        return nullcontext()

    def check(self, served: Served) -> None:
        """Whether it lives is not ours to know: its requests fail when it does not."""

    async def close(self, *, keep: bool) -> list[str]:
        return []
