"""Does each request extend the one before? As it was sent, and as the model's chat template makes a prompt of it.

The two can differ: a template may drop earlier reasoning, or write the last message otherwise than an earlier one. Then
every request is an extension on paper, and the prefix cache still misses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labkit.core.chat import ChatRequest
from labkit.core.errors import LabError
from labkit.doctor.prompt_diff import Break, first_break
from labkit.doctor.records import Check

Render = Callable[[ChatRequest], str]
"""A request as the text that the engine would tokenize, without the beginning of the reply. Raises LabError."""
_WHY = "A prefix cache serves what two prompts have in common from the first byte on, and nothing after it."
_SENT, _RENDERED = "Requests as sent", "Requests as the template writes them"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two requests of one session that follow each other; turns are counted from 1 over all that were given."""

    turn: int
    before: ChatRequest
    after: ChatRequest


def pairs_of(requests: Sequence[ChatRequest]) -> list[Pair]:
    """Every request with the one before it of the same session."""
    last: dict[str | None, ChatRequest] = {}
    pairs = []
    for turn, request in enumerate(requests, 1):
        if request.session in last:
            pairs.append(Pair(turn=turn, before=last[request.session], after=request))
        last[request.session] = request
    return pairs


def prompt_checks(name: str, requests: Sequence[ChatRequest], render: Render | None = None) -> list[Check]:
    """The checks of one recording. `render`: the model's template; without it the second check says what it needs."""
    pairs = pairs_of(requests)
    return [_sent(name, pairs), _rendered(name, pairs, render)]


def _sent(name: str, pairs: Sequence[Pair]) -> Check:
    broken = [(pair, found) for pair in pairs if (found := first_break(pair.before, pair.after))]
    if not pairs:
        return _check(_SENT, "unknown", f"{name}: one request, so there is nothing to compare")
    if not broken:
        return _check(_SENT, "ok", f"{name}: all {len(pairs)} requests extend the one before, byte for byte")
    pair, first = broken[0]
    how_many = f"{name}: {len(broken)} of {len(pairs)} do not extend the one before"
    return _check(_SENT, "fail", f"{how_many}; first turn {pair.turn}, at {_words(first)}", _todo(first))


def _words(first: Break) -> str:
    cause = f": {first.cause}" if first.cause else ""
    return f"{first.where}{cause} (was …{first.was}…, is …{first.now}…)"


def _todo(first: Break) -> str:
    where = "the tools" if first.where == "tools" else "earlier messages"
    return f"Send {where} back exactly as they were sent first; put what changes into the newest message."


def _rendered(name: str, pairs: Sequence[Pair], render: Render | None) -> Check:
    if render is None or not pairs:
        return _check(_RENDERED, "unknown", "not looked at: it needs a chat template on this machine, and two requests")
    try:
        broken = [(pair, at) for pair in pairs if (at := _drift(render, pair)) is not None]
    except LabError as error:
        return _check(_RENDERED, "unknown", f"{name}: {error.message}")
    if not broken:
        return _check(_RENDERED, "ok", f"{name}: every prompt begins with the whole prompt before it")
    pair, (kept, whole, text) = broken[0]
    drifted = (
        f"{name}: {len(broken)} of {len(pairs)} prompts leave the one before; first turn {pair.turn}, "
        f"after {kept:,} of {whole:,} characters, at …{text}…"
    )
    todo = "Use a template that writes earlier turns as they were written first, or keep reasoning out of the history."
    return _check(_RENDERED, "warn", drifted, todo)


def _drift(render: Render, pair: Pair) -> tuple[int, int, str] | None:
    """Characters in common, characters of the prompt before, and what stood there; None when it is a beginning."""
    before, after = render(pair.before), render(pair.after)
    if after.startswith(before):
        return None
    alike = (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    kept = next(alike, min(len(before), len(after)))
    return kept, len(before), before[max(0, kept - 15) : kept + 25].replace("\n", "\\n")


def _check(name: str, status: str, found: str, todo: str = "") -> Check:
    return Check(
        name=name,
        area="prompt prefix",
        status=status,  # type: ignore[arg-type]
        found=found,
        why=_WHY,
        todo=todo,
    )
