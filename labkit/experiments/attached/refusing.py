"""An arm that no attached engine can serve: refused before anything is measured, with what to start and how to attach
it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from labkit.core.arms import ARMS, Arm
from labkit.core.errors import LabError
from labkit.engines.machine import usable_cores
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import LAYER_SETTINGS
from labkit.engines.plan_text import command_text
from labkit.engines.profiles import Profile, load_profile
from labkit.experiments.attached.placing import Placed
from labkit.experiments.catalogue import DEFAULT_PROFILE

_WHY = {
    "restart": "{arm} is another engine than {url}, which is in {own}: those layers are set when an engine starts",
    "no salt": "{arm} cannot be had of {url}: it refuses a cache salt, by which a request goes without the cache",
    "caching on": "{arm} cannot be had of {url} under --strict: its prefix caching is on, by the server's own flag",
}
_FLAGS = ("--enable-prompt-tokens-details", "--enable-per-request-metrics")
"""Of every engine of a profile: what its replies tell of cached tokens and of times."""
_WITHOUT_WEIGHTS = ("ngram", "suffix")
"""Drafters that go with any model; others are of one model, so that only its profile can say how."""


def refusal(
    arm: Arm, drafter: str | None, engines: Sequence[Placed], profile: Profile | None, *, strict: bool
) -> LabError:
    """What cannot be served and what to do. `profile`: whose commands are shown; None: nobody named one."""
    commands = "\n".join(_commands(arm, drafter, engines, profile, strict))
    named = shlex.quote(f"{arm.label} {drafter}=URL") if drafter else f"{arm.label}=URL"
    start = "Start it yourself, such as so" if profile is None else "Start it yourself so"
    hint = f"{start}:\n{commands}\nThen attach it too: --endpoint {named}\n{_instead(engines, strict)}"
    return LabError(_why(arm, drafter, engines, strict), hint)


def _instead(engines: Sequence[Placed], strict: bool) -> str:
    """What could be measured as it is."""
    able = [arm for arm in ARMS if any(each.how(arm, strict=strict) in ("flag", "salt") for each in engines)]
    return f"Or measure what is attached: {', '.join(arm.label for arm in able)}."


def _why(arm: Arm, drafter: str | None, engines: Sequence[Placed], strict: bool) -> str:
    if drafter:
        return f"no --endpoint is named {arm.label} {drafter}: a drafter is set when an engine starts"
    near = next((each for each in engines if each.how(arm, strict=strict) != "restart"), engines[0])
    own = near.endpoint.arm or near.arm
    return _WHY[near.how(arm, strict=strict)].format(arm=arm.label, url=near.engine.url, own=own.label)


def _commands(
    arm: Arm, drafter: str | None, engines: Sequence[Placed], profile: Profile | None, strict: bool
) -> Iterator[str]:
    if profile:
        plan = make_plan(profile, arm, spec_method=drafter, salted=not strict, cores=usable_cores())
        yield from (f"# {process.role}\n{command_text(process)}" for process in plan.processes)
        yield f"# as by: labkit plan --profile {profile.name} --arm {arm.label}"
        return
    model, maker, method = engines[0].engine.model, engines[0].engine.maker, drafter or _WITHOUT_WEIGHTS[0]
    if maker != "sglang" and not arm.pd_split and method in _WITHOUT_WEIGHTS:
        yield " ".join(["vllm serve", shlex.quote(model), "--port 8001", *_FLAGS, *_layer_flags(arm, method, strict)])
    yield f"labkit plan --profile PROFILE --arm {arm.label}   # the commands of a profile; labkit plan --profiles"


def _layer_flags(arm: Arm, method: str, strict: bool) -> Iterator[str]:
    """What the arm's layers add to a command line of vLLM. `method`: a drafter that needs no weights."""
    plan = make_plan(load_profile(DEFAULT_PROFILE), arm, spec_method=method, salted=not strict)
    own = LAYER_SETTINGS["prefix_caching"] | LAYER_SETTINGS["speculation"]
    mine = False
    for word in plan.processes[0].argv:
        mine = word in own if word.startswith("--") else mine
        if mine:
            yield shlex.quote(word)
