"""What can be measured on an engine that was attached, what cannot and why, and how to go on. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labkit.core.arms import ARMS, Arm
from labkit.core.records import Record
from labkit.experiments.attached.endpoints import Endpoints
from labkit.experiments.attached.placing import Placed
from labkit.experiments.attached.provider import AttachedProvider

_ALWAYS = ("t_send", "t_first_token", "t_first_visible", "t_last", "t_end", "prompt_tokens", "completion_tokens")
_OF_ENGINES = (
    "cached_tokens", "ceiling_tokens", "reachable_tokens", "shared_tokens", "append_tokens", "retokenized_tokens",
    "queue_s", "prefill_s", "decode_s", "server_s",
)  # fmt: skip
_OF_DRAFTS = ("drafts", "drafted_tokens", "accepted_tokens")
_OF_SPLITS = ("transferred_tokens", "transfer_s")


@dataclass(frozen=True, kw_only=True)
class Findings(Record):
    """`serves`: arm to how prefix caching is switched for it (`flag`, `salt`). `measured`, `unread`: columns of the
    steps; `noted`: a sentence each; `go_on`: commands."""

    known: Mapping[str, Any]
    arm: str
    serves: Mapping[str, str]
    measured: tuple[str, ...]
    unread: Mapping[str, str]
    noted: tuple[str, ...]
    go_on: tuple[str, ...]


def findings(provider: AttachedProvider, asked: Endpoints) -> Findings:
    """Of the first endpoint that was asked for."""
    found = provider.engines[0]
    serves = {arm.label: how for arm in ARMS if (how := found.how(arm, strict=False)) in ("flag", "salt")}
    facts = provider.facts(found, found.arm)
    return Findings(
        known=facts["known"],
        arm=found.arm.label,
        serves=serves,
        measured=tuple(column for column in _columns(found.arm) if column not in facts["unread"]),
        unread=facts["unread"],
        noted=tuple(facts["noted"]),
        go_on=tuple(_go_on(found, asked, list(serves))),
    )


def _columns(arm: Arm) -> tuple[str, ...]:
    """Those that an engine in this arm can fill."""
    drafts, splits = _OF_DRAFTS if arm.speculation else (), _OF_SPLITS if arm.pd_split else ()
    return (*_ALWAYS, *_OF_ENGINES, *drafts, *splits)


def _go_on(found: Placed, asked: Endpoints, arms: list[str]) -> list[str]:
    options = " ".join(_options(found, asked))
    labels = ",".join(arms)
    return [
        f"labkit run quick --arms {labels} {options}",
        f"labkit run capacity --arms {labels} --ttft 1 --itl 0.1 {options}",
        f"labkit replay RECORDING --arms {labels} --repeats 3 --seed 1 {options}",
        f"labkit record --task evict-one-late --arm {arms[-1]} --out mine.jsonl {options}",
    ]


def _options(found: Placed, asked: Endpoints) -> list[str]:
    """What attaches it again; of a router's halves also the pages that nobody has named yet."""
    engine = found.engine
    named = f"{found.endpoint.arm.label}={engine.url}" if found.endpoint.arm else engine.url
    words = ["--endpoint", named]
    for role, url in found.endpoint.metrics.items() or _suggested(found).items():
        words += ["--metrics", f"{role}={url}"]
    words += ["--served-model", engine.model] if len(engine.models) != 1 else []
    words += ["--arm-is", asked.arm_is.label] if asked.arm_is else []
    words += ["--api-key-env", asked.api_key_env] if asked.api_key_env else []
    return [shlex.quote(word) for word in words]


def _suggested(found: Placed) -> dict[str, str]:
    """Pages of the workers that a router names, where there is one of each."""
    workers = found.engine.workers
    pairs = {role: workers.get(role, ()) for role in ("prefill", "decode")}
    if any(len(urls) != 1 for urls in pairs.values()):
        return {}
    return {role: f"{urls[0].rstrip('/')}/metrics" for role, urls in pairs.items()}
