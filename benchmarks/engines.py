"""What the engine benchmarks share: variants of the default profile, a prompt, and a fleet that is gone afterwards."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from labkit.core.arms import arm_named
from labkit.core.chat import ChatRequest
from labkit.engines import weights
from labkit.engines.fleet import Fleet
from labkit.engines.machine import usable_cores
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import Profile, load_profile

_RULES = " ".join(f"Rule {n}: call one tool at a time, read its result before step {n + 1}." for n in range(40))


@contextlib.contextmanager
def fleet() -> Iterator[Fleet]:
    """A fleet of its own; whatever is up when the block ends is ended."""
    with tempfile.TemporaryDirectory(prefix="labkit-bench-") as folder:
        own = Fleet(Path(folder))
        try:
            yield own
        finally:
            own.down()


def variant(*, fast_start: bool = True, without_env: str = "", env: Mapping[str, str] | None = None) -> Profile:
    """The default profile with one thing changed."""
    profile = load_profile("cpu-smollm2")
    kept = {name: value for name, value in profile.engine.env.items() if name != without_env}
    changes = {"fast_start": fast_start, "env": {**kept, **(env or {})}}
    return profile.model_copy(update={"engine": profile.engine.model_copy(update=changes)})


def plan(profile: Profile, arm: str) -> Plan:
    """The plan for this machine; the weights are fetched if they are not there."""
    return make_plan(profile, arm_named(arm), model_path=str(weights.fetch()), cores=usable_cores())


def request(max_tokens: int) -> ChatRequest:
    """About 800 prompt tokens that no cache has seen; generates exactly `max_tokens`."""
    messages = [{"role": "system", "content": _RULES}, {"role": "user", "content": "Find the bug now."}]
    return ChatRequest(messages=messages, max_tokens=max_tokens, ignore_eos=True, cache_salt=uuid.uuid4().hex)
