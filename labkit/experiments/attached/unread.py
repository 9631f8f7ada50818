"""Which columns of a run stay null on an attached engine, and why: said before it is measured, and kept with it. Pure.

A run of the fleet has none of these gaps, since its plans ask for every flag and know every page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from labkit.core.arms import Arm
from labkit.experiments.attached.records import AttachedEngine

_TOKENS = ("retokenized_tokens", "ceiling_tokens", "reachable_tokens", "shared_tokens", "append_tokens")
_TIMES = ("queue_s", "prefill_s", "decode_s")
_SERVER = ("requests", "e2e_s", *_TIMES)
"""What the time of the HTTP server is the rest of."""
_DRAFTS = ("drafts", "drafted_tokens", "accepted_tokens")


class Unread(NamedTuple):
    """`columns` of the steps are null throughout; `why` in words, without a full stop."""

    columns: tuple[str, ...]
    why: str


def unread(engine: AttachedEngine, arm: Arm, block_size: int | None) -> list[Unread]:
    """For an arm that it serves. `block_size`: tokens, whoever told it. What a layer that is off leaves empty is not
    listed: nothing is missing there."""
    found = [*_usage(engine), *_tokens(engine, block_size)]
    found += _split(engine) if arm.pd_split else _whole(engine)
    found += _drafts(engine) if arm.speculation else []
    return found


def _usage(engine: AttachedEngine) -> Iterator[Unread]:
    if engine.cached_tokens is False:
        flag = {"vllm": "--enable-prompt-tokens-details", "sglang": "--enable-cache-report"}.get(engine.maker or "")
        cure = f"; {'each engine' if engine.split else 'it'} must be started with {flag}" if flag else ""
        yield Unread(("cached_tokens",), f"its usage has no prompt_tokens_details{cure}")


def _tokens(engine: AttachedEngine, block_size: int | None) -> Iterator[Unread]:
    if not engine.tokenizer:
        yield Unread(_TOKENS, "it has no /tokenize that renders a chat")
    elif block_size is None:
        yield Unread(_TOKENS, "its block size is not told by any page; --profile NAME takes that of a profile")


def _whole(engine: AttachedEngine) -> Iterator[Unread]:
    """An engine that is not split: its replies' own numbers, else those of its one page."""
    role = _only(engine)
    lost = _TIMES if not engine.counted(role, "prefill_s") else _lacking(engine, role, _TIMES)
    if engine.request_metrics is False and lost:
        yield Unread(lost, _why(engine, role, "and its replies bring no times (vLLM: --enable-per-request-metrics)"))
    if not engine.counted(role, *_SERVER):
        yield Unread(("server_s",), _why(engine, role))


def _split(engine: AttachedEngine) -> Iterator[Unread]:
    """A reply tells decode's own times alone; the transfer and prefill's times are in the counters."""
    decode = "decode" in engine.metrics
    if not engine.counted("decode", "prompt_transferred"):
        yield Unread(("transferred_tokens",), _page_of("decode", engine))
    if not engine.counted("decode", "transfer_s"):
        yield Unread(("transfer_s",), "its connector counts no transfers" if decode else _page_of("decode", engine))
    poor = next((role for role in ("prefill", "decode") if not engine.counted(role, *_SERVER)), None)
    if poor:
        yield Unread(("server_s",), _page_of(poor, engine))
    if engine.counted("prefill", "prefill_s") and decode:
        for role in ("prefill", "decode"):
            if lost := _lacking(engine, role, ("queue_s", "decode_s") if role == "decode" else ("queue_s",)):
                yield Unread(lost, _page_of(role, engine))
    elif engine.request_metrics is False:
        yield Unread(_TIMES, f"{_page_of('prefill', engine)}, and its replies bring no times")


def _lacking(engine: AttachedEngine, role: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if not engine.counted(role, name))


def _page_of(role: str, engine: AttachedEngine) -> str:
    return f"the page of {role} does not count it" if role in engine.metrics else f"no --metrics {role}=URL was given"


def halved(engine: AttachedEngine, arm: Arm) -> str:
    """Of a split engine whose times are decode's alone: which columns those are; empty when there are none."""
    if not arm.pd_split or {"prefill", "decode"} <= set(engine.metrics) or not engine.request_metrics:
        return ""
    return "queue_s, prefill_s and decode_s are those of decode alone, prefill's are not in them: no --metrics " + (
        "prefill=URL was given"
    )


def _drafts(engine: AttachedEngine) -> Iterator[Unread]:
    role = "decode" if engine.split else _only(engine)
    if engine.request_drafts is False and not engine.counted(role, *_DRAFTS):
        yield Unread(_DRAFTS, _why(engine, role))


def _only(engine: AttachedEngine) -> str:
    """The role of the one page; with several replicas nobody knows which one served a step."""
    return next(iter(engine.metrics)) if len(engine.metrics) == 1 else "engine"


def _why(engine: AttachedEngine, role: str, also: str = "") -> str:
    if len(engine.metrics) > 1 and role not in engine.metrics:
        why = "of several replicas the counters of one step are not told apart"
    elif role in engine.metrics:
        why = _page_of(role, engine)
    else:
        why = f"no page of counters beside the API, and {_page_of(role, engine)}"
    return f"{why}, {also}" if also else why
