"""What a run folder keeps of engines that were attached: how they were named, and so how to name them again. Pure.

No key is in it: only the name of the environment variable that holds one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labkit.core.records import RunInfo
from labkit.experiments.attached.placing import Placed

ATTACHED = "attached"
"""The key of it all under `asked` in run.json."""


def kept(engines: Sequence[Placed]) -> dict[str, Any]:
    """As the options of the command line say it: `endpoint` and `metrics` are lists, the others are there if needed.

    `key_from`: the environment variable of the key that was sent.
    """
    said: dict[str, Any] = {"endpoint": [_named(each) for each in engines]}
    pages = [f"{_prefix(each)}{role}={url}" for each in engines for role, url in each.endpoint.metrics.items()]
    said |= {"metrics": pages} if pages else {}
    first = engines[0].engine
    said |= {"served_model": first.model} if any(len(each.engine.models) > 1 for each in engines) else {}
    own = next((each.arm.label for each in engines if _by_word(each)), None)
    said |= {"arm_is": own} if own else {}
    said |= {"key_from": first.key_from} if first.key_from else {}
    return said | ({} if first.probed else {"probe": False})


def _named(placed: Placed) -> str:
    endpoint = placed.endpoint
    label = " ".join(filter(None, (endpoint.arm.label if endpoint.arm else "", endpoint.drafter)))
    return f"{label}={endpoint.url}" if label else endpoint.url


def _prefix(placed: Placed) -> str:
    return f"{placed.endpoint.arm.label}:" if placed.endpoint.arm else ""


def _by_word(placed: Placed) -> bool:
    """Whether only --arm-is said that an endpoint without a name has layers that it does not tell."""
    untold = (placed.engine.speculation is None and placed.arm.speculation) or (
        placed.engine.split is None and placed.arm.pd_split
    )
    return placed.endpoint.arm is None and bool(untold)


def attached_engines(fingerprint: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The attached ones among a fingerprint's engines, by id: what each told; empty for a run of the fleet."""
    engines = fingerprint.get("engines")
    known = engines.items() if isinstance(engines, Mapping) else ()
    return {key: each for key, each in known if isinstance(each, Mapping) and each.get("attached")}


def profile_of(info: RunInfo) -> str:
    """The profile whose machine was measured; empty where the engines were attached, whatever was named beside them."""
    return "" if attached_engines(info.fingerprint) else str(info.asked.get("profile") or "")


def attach_words(asked: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> list[str]:
    """The options that attach the same engines again; empty for a run of the fleet.

    `asked`, `fingerprint`: of run.json. A run that kept no names is read from what its engines told.
    """
    said = asked.get(ATTACHED) or _told(attached_engines(fingerprint))
    return [word for option in _options(said) for word in option]


def _told(engines: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Of a run that was made before the names were kept: an address for each engine, with its arm where they differ."""
    several = len(engines) > 1
    named = [f"{each.get('arm')}={each.get('url')}" if several else str(each.get("url")) for each in engines.values()]
    return {"endpoint": named} if named else {}


def _options(said: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name in ("endpoint", "metrics"):
        yield from ((f"--{name}", str(value)) for value in said.get(name) or ())
    for name, option in (("served_model", "--served-model"), ("arm_is", "--arm-is"), ("key_from", "--api-key-env")):
        if said.get(name):
            yield option, str(said[name])
    if said.get("probe") is False:
        yield ("--no-probe",)
