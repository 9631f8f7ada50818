"""What a prefix cache of so many blocks keeps while agents take turns: worked out, before anything is measured.

The rules are vLLM's (`BlockPool`, `KVCacheManager`). A request holds a block for every `block_size` tokens of its
prompt and its reply. Whole blocks stay when it has ended, until their place is needed. What goes first is what was used
longest ago, and of one request its last block first. So an agent that comes back finds what all that was sent since has
left: with A agents of b blocks each, `blocks - (A - 1) * b`. Each agent has a salt of its own: they share nothing.

Left out is that requests run side by side, which holds blocks for as long as they run, and that agents get out of step.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from labkit.core.columns import column
from labkit.core.errors import BadInput
from labkit.core.records import Record

_LAPS, _DROPPED = 6, 2
"""Lives that each agent is played through, and how many of them come before the cache is as full as it will be."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One request of an agent, in tokens. `shared`: of the prompt, what the agent's request before it left computed."""

    prompt: int
    generated: int
    shared: int = 0

    def blocks(self, block_size: int) -> int:
        """Blocks that it holds when it ends."""
        return -(-(self.prompt + self.generated) // block_size)


@dataclass(frozen=True, kw_only=True)
class TurnTakingRow(Record):
    """So many agents, one after the other, on one cache."""

    agents: int = column("int64", "", "agents that take turns")
    hit_rate: float = column("float64", "", "prompt tokens that the cache would serve / prompt tokens")
    hit_ceiling: float = column("float64", "", "the same of an infinite cache of such blocks")

    @property
    def kept(self) -> float | None:
        """Hit rate over its ceiling, 0 to 1; None where nothing could hit."""
        return self.hit_rate / self.hit_ceiling if self.hit_ceiling else None


def left_for_one(blocks: int, each: float, agents: int) -> float:
    """Share of its own `each` blocks that an agent finds again once all others have had their turn: 0 to 1."""
    return min(1.0, max(0.0, (blocks - (agents - 1) * each) / each))


def turn_taking(lives: Sequence[Sequence[Turn]], agents: int, blocks: int, block_size: int) -> TurnTakingRow:
    """Play `agents` agents in turns. `lives`: conversations, given round-robin; an agent that ends one starts the next.

    They begin at evenly spread turns, so that not all are at their longest at once. Raises BadInput for a cache that
    does not hold one request.
    """
    longest = max(len(turns) for turns in lives)
    queues = [_agent(number, lives, number * longest // agents) for number in range(agents)]
    pool, found, could, sent = Pool(blocks, block_size), 0, 0, 0
    for lap in range(_LAPS * longest):
        for queue in queues:
            life, turn = next(queue)
            hit = pool.serve(life, turn)
            if lap >= _DROPPED * longest:
                found, sent = found + hit, sent + turn.prompt
                could += _whole(min(turn.shared, turn.prompt - 1), block_size)
    return TurnTakingRow(agents=agents, hit_rate=found / sent, hit_ceiling=could / sent)


def _agent(number: int, lives: Sequence[Sequence[Turn]], start: int) -> Iterator[tuple[Hashable, Turn]]:
    for life in count():
        turns = lives[(number + life) % len(lives)]
        for turn in islice(turns, start % len(turns) if life == 0 else 0, None):
            yield (number, life), turn


class Pool:
    """The blocks of one cache, one request at a time. Mutable."""

    def __init__(self, blocks: int, block_size: int) -> None:
        """`blocks`: that can hold tokens; one more is vLLM's own."""
        self.blocks, self.block_size = blocks, block_size
        self._kept: dict[int, None] = {}
        """Names of whole blocks that nobody holds, from the one that goes first."""
        self._names: dict[Hashable, list[int]] = {}
        self._fresh = count()

    def serve(self, life: Hashable, turn: Turn) -> int:
        """Tokens of the prompt that the cache has. `life`: whose conversation it is. Raises BadInput."""
        needed = turn.blocks(self.block_size)
        if needed > self.blocks:
            raise BadInput("blocks", self.blocks, f"at least {needed}: one request holds so many")
        names = self._names.setdefault(life, [])
        del names[turn.shared // self.block_size :]
        could = names[: (turn.prompt - 1) // self.block_size]
        hit = next((at for at, name in enumerate(could) if name not in self._kept), len(could))
        for name in names[:hit]:
            del self._kept[name]
        self._make_room(needed)
        self._keep(names, (turn.prompt + turn.generated - 1) // self.block_size)
        return hit * self.block_size

    def _make_room(self, needed: int) -> None:
        over = len(self._kept) + needed - self.blocks
        for name in list(islice(self._kept, max(0, over))):
            del self._kept[name]

    def _keep(self, names: list[int], whole: int) -> None:
        names += [next(self._fresh) for _ in range(whole - len(names))]
        for name in reversed(names[:whole]):
            self._kept.pop(name, None)
            self._kept[name] = None


def _whole(tokens: int, block_size: int) -> int:
    return tokens // block_size * block_size
