"""Which tokens of a step's prompt belong to which message, and which of them the cache served: without a tokenizer.

A conversation is only appended to, so two prompts differ by the reply between them and by what was appended after it.
`usage` tells both prompts and the reply's length, and that settles every sum: the tokens of all messages of a prompt
add up to its `prompt_tokens`. Where several messages came at once, what they share is split by their characters, and
said to be estimated. Cached tokens are a prefix of the prompt, so they fall into the first messages.

The few tokens that a chat template sets around a message count as its own; what opens a reply counts to the message
before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TEMPLATE_CHARS = 20
"""What a chat template sets around a message, in characters, where a share goes by characters."""


@dataclass(frozen=True, kw_only=True)
class Added:
    """A message that was new in a request. `tokens`: its length where something counted it, as a reply's is."""

    chars: int
    tokens: int | None = None


@dataclass(frozen=True)
class Share:
    """A message's tokens in a prompt, and whether that is an estimate. `tokens` is None where no prompt was counted."""

    tokens: int | None
    estimated: bool = False


NOT_COUNTED = Share(None)


@dataclass(frozen=True)
class Segment:
    """A message's tokens in one prompt: `cached + computed + unknown` of them, in that order."""

    message: int
    cached: int = 0
    computed: int = 0
    unknown: int = 0
    estimated: bool = False

    @property
    def tokens(self) -> int:
        return self.cached + self.computed + self.unknown


def shares(added: Sequence[Sequence[Added]], prompts: Sequence[int | None]) -> list[Share]:
    """One share for each message, in order. `added[k]`: what was new in request k; `prompts[k]`: its prompt tokens.

    What was new in a request whose prompt was not counted shares the next one that was.
    """
    found, waiting, before = list[Share](), list[Added](), 0
    for new, prompt in zip(added, prompts, strict=True):
        waiting += new
        if prompt is not None:
            found += _split(waiting, prompt - before)
            before, waiting = max(before, prompt), []
    return found + [NOT_COUNTED] * len(waiting)


def segments(known: Sequence[Share], prompt: int | None, cached: int | None) -> list[Segment]:
    """What a prompt of the first messages is made of; adds up to `prompt`. Empty where that was not counted.

    `known`: the shares of the prompt's messages. A prompt that they do not add up to (its history was rewritten) is
    shared out in their proportion, as an estimate. `cached`: None where the engine did not say.
    """
    if prompt is None or not known:
        return []
    tokens = [share.tokens or 0 for share in known]
    rewritten = sum(tokens) != prompt
    if rewritten:
        tokens = apportioned(prompt, tokens)
    found, start = list[Segment](), 0
    for message, count in enumerate(tokens):
        hit = 0 if cached is None else min(max(cached - start, 0), count)
        parts = {"unknown": count} if cached is None else {"cached": hit, "computed": count - hit}
        found.append(Segment(message, **parts, estimated=rewritten or known[message].estimated))
        start += count
    return found


def apportioned(total: int, weights: Sequence[float]) -> list[int]:
    """`total` in whole parts as near to these proportions as can be (largest remainder); alike where all are 0."""
    whole = sum(weights)
    exact = [total * weight / whole if whole else total / len(weights) for weight in weights]
    parts = [int(each) for each in exact]
    short = sorted(range(len(parts)), key=lambda n: parts[n] - exact[n])[: total - sum(parts)]
    return [part + (n in short) for n, part in enumerate(parts)]


def _split(new: Sequence[Added], total: int) -> list[Share]:
    """`total` tokens over messages: counted ones get what was counted, the rest is shared by characters."""
    if total <= 0 or not new:
        return [Share(0, estimated=True)] * len(new)
    counted = sum(each.tokens or 0 for each in new)
    open_ = [n for n, each in enumerate(new) if each.tokens is None]
    if counted > total or (not open_ and counted != total):  # counted by something else than this engine
        parts = apportioned(total, [each.chars + TEMPLATE_CHARS for each in new])
        return [Share(part, estimated=len(new) > 1) for part in parts]
    left = iter(apportioned(total - counted, [new[n].chars + TEMPLATE_CHARS for n in open_])) if open_ else iter(())
    return [Share(next(left), len(open_) > 1) if each.tokens is None else Share(each.tokens) for each in new]
