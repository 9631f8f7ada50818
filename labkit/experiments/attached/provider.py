"""AttachedProvider: engines that run already as a run's engines. It starts, ends and locks nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from urllib.parse import urlsplit

from labkit.core.arms import Arm
from labkit.core.errors import BadInput
from labkit.core.progress import OnProgress, silent
from labkit.engines.bearer import Bearer, bearer_from
from labkit.engines.profiles import Profile
from labkit.experiments.attached.alike import differences, require_one_model
from labkit.experiments.attached.endpoints import Endpoints
from labkit.experiments.attached.placing import Placed, placed
from labkit.experiments.attached.probe import probe
from labkit.experiments.attached.refusing import refusal
from labkit.experiments.attached.unread import halved, unread
from labkit.experiments.serving import Served, SwitchedBy

_NOT_TOLD = ("workers", "models", "counts", "running", "key_from")
"""Not in the fingerprint: it is of one moment, or of the machines that they run on."""


async def attach(
    asked: Endpoints, *, profile: Profile | None = None, spec_method: str | None = None, strict: bool = False
) -> AttachedProvider:
    """Look at every endpoint, and return the engines of a run. `profile`: for its name, block size and commands.

    Raises BadInput, UnknownName and EngineError, with the next step, when one cannot be used, and LabError for engines
    of different models.
    """
    bearer = bearer_from(name=asked.api_key_env)
    found = await asyncio.gather(
        *(probe(each, model=asked.model, bearer=bearer, request=asked.probe) for each in asked.endpoints)
    )
    require_one_model(found)
    engines = [placed(each, engine, asked.arm_is) for each, engine in zip(asked.endpoints, found, strict=True)]
    return AttachedProvider(engines, bearer, profile=profile, spec_method=spec_method, strict=strict)


class AttachedProvider:
    """EngineProvider over engines that somebody else started. `engines`: at least one.

    An endpoint that is named for the very arm, and drafter, serves it; else one that can without a restart.
    """

    def __init__(
        self,
        engines: Sequence[Placed],
        bearer: Bearer | None = None,
        *,
        profile: Profile | None = None,
        spec_method: str | None = None,
        strict: bool = False,
    ) -> None:
        if not engines:
            raise BadInput("endpoint", None, "at least one URL")
        self.engines = tuple(engines)
        self._bearer, self._profile, self._spec_method, self._strict = bearer, profile, spec_method, strict

    def require(self, arms: Sequence[Arm], spec_methods: Sequence[str | None] = ()) -> None:
        """Raises LabError for the first arm that none of them serves, with what to start and how to attach it."""
        for arm, method in zip(arms, spec_methods or [None] * len(arms), strict=True):
            self.find(arm, method)

    def find(self, arm: Arm, spec_method: str | None = None) -> tuple[Placed, SwitchedBy]:
        """Who serves this arm, and how prefix caching is switched for it. Raises LabError as `require` does."""
        able = [each for each in self.engines if self._drafts(each, arm, spec_method)]
        for each in sorted(able, key=lambda each: (each.endpoint.drafter is None, each.endpoint.arm != arm)):
            how = each.how(arm, strict=self._strict)
            if how in ("flag", "salt"):
                return each, how
        drafter = spec_method if arm.speculation and spec_method != self._spec_method else None
        raise refusal(arm, drafter, self.engines, self._profile, strict=self._strict)

    def _drafts(self, engine: Placed, arm: Arm, method: str | None) -> bool:
        """Whether it has this drafter: by the endpoint's name, and the run's own on one without a drafter's name."""
        named = engine.endpoint.drafter
        if not arm.speculation:
            return named is None
        return named == (method or self._spec_method) or (named is None and method in (None, self._spec_method))

    def fingerprint(self, arms: Sequence[Arm]) -> dict[str, Any]:
        """Raises LabError for an arm that none of them serves: it is better heard before there is a run."""
        self.require([arm for arm in arms if not arm.speculation or not self._drafters])
        name = self._profile.name if self._profile else None
        model = self.engines[0].engine.model
        return {"profile": name, "model": model, "engines": {each.engine.id: _known(each) for each in self.engines}}

    @property
    def _drafters(self) -> list[str]:
        return [each.endpoint.drafter for each in self.engines if each.endpoint.drafter]

    def starts(
        self, arms: Sequence[Arm], spec_methods: Sequence[str | None] = (), *, fresh: bool = False
    ) -> list[float]:
        return [0.0] * len(arms)

    async def renew(self) -> None:
        """They are not ours to end: every block of an arm is served by the same start."""

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        found, how = self.find(arm, spec_method)
        engine = found.engine
        return Served(
            engine=engine.id,
            base_url=engine.url,
            model=engine.model,
            switched_by=how,
            metrics=engine.metrics,
            block_size=self._block_size(found),
            attached=self.facts(found, arm),
            bearer=self._bearer,
        )

    def _block_size(self, found: Placed) -> int | None:
        ours = self._profile.engine.flags.get("block-size") if self._profile else None
        return found.engine.block_size or (ours if isinstance(ours, int) else None)

    def facts(self, found: Placed, arm: Arm) -> dict[str, Any]:
        """What the event `attached` keeps: what is known, which columns stay null and why, what is to be noted."""
        missing = unread(found.engine, arm, self._block_size(found))
        noted = [*filter(None, (halved(found.engine, arm), *_about(found))), *found.assumed]
        return {
            "known": found.engine.to_dict(),
            "own_arm": found.arm.label,
            "unread": {column: each.why for each in missing for column in each.columns},
            "noted": [*noted, *differences([each.engine for each in self.engines])],
        }

    def locked(self, served: Served, owner: str) -> AbstractContextManager[object]:
        return nullcontext()

    def check(self, served: Served) -> None:
        """Whether it lives is not ours to know: its requests fail when it does not."""

    async def close(self, *, keep: bool) -> list[str]:
        return []


def _known(placed: Placed) -> dict[str, Any]:
    """For the fingerprint: that it was attached and what it told; its command lines nobody told."""
    told = {name: value for name, value in placed.engine.to_dict().items() if name not in _NOT_TOLD}
    return {"attached": True, "arm": placed.arm.label, "command_lines": "not known", **told}


def _about(placed: Placed) -> Iterator[str]:
    """What is to be kept in mind of where it runs and who else uses it."""
    engine, parts = placed.engine, urlsplit(placed.engine.url)
    host = parts.hostname or ""
    if not (host in ("localhost", "::1") or host.startswith("127.")):
        yield "samples of the host and its energy are those of the machine that labkit runs on, not of the engine's"
        if engine.key_from and parts.scheme == "http":
            yield f"the key from {engine.key_from} went over the network in plain http"
    if engine.running:
        yield f"somebody else used it: {engine.running} requests were in flight when it was looked at"
