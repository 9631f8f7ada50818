"""What a prefix cache could hold after the requests so far: in the whole engine, and in each process of it.

A split engine computes a prompt in prefill and the reply in decode, so the reply's blocks are where the next prompt
does not look; of several replicas, one has what another has not. The lab keeps an index for each, and so knows how much
of a prompt was computed before, and how much of that where the prompt went.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from labkit.analysis.ceiling import PrefixIndex


@dataclass(frozen=True)
class ServedBy:
    """Roles of the processes that computed a step's prompt and its reply; None: not known."""

    prompt: str | None = None
    reply: str | None = None


UNKNOWN = ServedBy()


def served_by(roles: Collection[str], counted: Collection[str] = ()) -> ServedBy:
    """Who served a step. `roles`: those that an engine has; `counted`: those whose counters grew by one request."""
    if {"prefill", "decode"} == set(roles):
        return ServedBy("prefill", "decode")
    if "decode" in roles or not roles:
        return UNKNOWN
    only = set(roles) if len(roles) == 1 else set(counted)
    role = only.pop() if len(only) == 1 else None
    return ServedBy(role, role)


@dataclass
class Seen:
    """Everything that was computed under one salt. Mutable."""

    block_size: int
    _whole: PrefixIndex = field(init=False)
    _of: dict[str, PrefixIndex] = field(init=False, default_factory=dict)
    _lost: bool = field(init=False, default=False)
    """A step was served by nobody knows whom: from then on nobody knows what a process has."""

    def __post_init__(self) -> None:
        self._whole = PrefixIndex(self.block_size)

    def shared(self, prompt: Sequence[int]) -> int:
        """Tokens in common with anything seen, not rounded."""
        return self._whole.shared(prompt)

    def ceiling(self, prompt: Sequence[int]) -> int:
        """Tokens of it that any process has computed: whole blocks, and fewer than all."""
        return self._whole.ceiling(prompt)

    def reachable(self, prompt: Sequence[int], role: str | None) -> int | None:
        """Tokens of the ceiling that the process in this role has computed itself; None when that is not known."""
        if role is None or self._lost:
            return None
        return self._index(role).ceiling(prompt)

    def add(self, prompt: Sequence[int], generated: Sequence[int], by: ServedBy, last: int = 1) -> None:
        """Remember a step. The `last` generated tokens, those of the last forward pass, are seen and not stored."""
        computed = [*prompt, *generated[: max(0, len(generated) - last)]]
        self._whole.add(computed)
        self._whole.see([*prompt, *generated])
        if by.prompt is None or by.reply is None:
            self._lost = True
            return
        self._index(by.prompt).add(prompt)
        self._index(by.reply).add(computed)

    def _index(self, role: str) -> PrefixIndex:
        return self._of.setdefault(role, PrefixIndex(self.block_size))
