"""The most prompt tokens that a prefix cache could serve: infinite memory, whole blocks, nothing ever evicted.

A measured hit rate says little alone. Beside its ceiling, the gap has a name: eviction, routing or template drift.
The rules are vLLM's (`KVCacheManager.get_computed_blocks`): only whole blocks hit, a block hits only when everything
before it does, and at least the last prompt token is computed, so that there are logits to sample from.
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.core.errors import BadInput

Tokens = Sequence[int]


class PrefixIndex:
    """Every block of tokens seen so far, each under the blocks before it. Exact: blocks are compared, not just hashed.

    Work is linear in the tokens given; memory in the distinct blocks. The tail that fills no block is kept as well: no
    cache could serve it, and yet it was seen.
    """

    def __init__(self, block_size: int) -> None:
        """`block_size`: tokens per block, as the engine's. Raises BadInput when it is not positive."""
        if block_size < 1:
            raise BadInput("block_size", block_size, "a whole number from 1", "Use the engine's --block-size.")
        self.block_size = block_size
        self._children: dict[tuple[int, tuple[int, ...]], int] = {}
        self._endings: dict[int, set[tuple[int, ...]]] = {}

    def ceiling(self, prompt: Tokens) -> int:
        """Tokens of `prompt` that could come from what was added: whole blocks, and fewer than all."""
        return self._walk(prompt, len(prompt) - 1)[1]

    def shared(self, prompt: Tokens) -> int:
        """Tokens that `prompt` has in common with anything that was added, from the first on; not rounded to blocks."""
        node, hit = self._walk(prompt, len(prompt))
        rest = prompt[hit:]
        return hit + max((common(rest, ending) for ending in self._endings.get(node, ())), default=0)

    def add(self, tokens: Tokens) -> None:
        """Remember `tokens`: their KV was computed."""
        node = 0
        for start in range(0, len(tokens), self.block_size):
            block = tuple(tokens[start : start + self.block_size])
            self._endings.setdefault(node, set()).add(block)
            if len(block) == self.block_size:
                node = self._children.setdefault((node, block), len(self._children) + 1)

    def see(self, tokens: Tokens) -> None:
        """Tokens that were seen and not all computed: `shared` knows what was not, `ceiling` does not."""
        node, hit = self._walk(tokens, len(tokens) - 1)
        self._endings.setdefault(node, set()).add(tuple(tokens[hit:]))

    def _walk(self, prompt: Tokens, limit: int) -> tuple[int, int]:
        """The last node on the way of `prompt`'s whole blocks within `limit` tokens, and the tokens up to it."""
        node, hit = 0, 0
        while hit + self.block_size <= limit:
            child = self._children.get((node, tuple(prompt[hit : hit + self.block_size])))
            if child is None:
                break
            node, hit = child, hit + self.block_size
        return node, hit


def common(one: Tokens, other: Tokens) -> int:
    """How many tokens the two begin with alike."""
    unlike = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(unlike, min(len(one), len(other)))


def prefix_ceiling(requests: Sequence[Tokens], block_size: int, generated: Sequence[Tokens] | None = None) -> list[int]:
    """For each request, in order: the most prompt tokens that could come from the requests before it.

    `generated`: the tokens that each request produced, when those blocks can be reused too (live history); the last
    generated token is never stored, since nothing was computed after it. Raises BadInput when their number differs.
    """
    outputs: Sequence[Tokens] = [()] * len(requests) if generated is None else generated
    if len(outputs) != len(requests):
        raise BadInput("generated", len(outputs), f"one list per request: {len(requests)}")
    index = PrefixIndex(block_size)
    ceilings = []
    for prompt, output in zip(requests, outputs, strict=True):
        ceilings.append(index.ceiling(prompt))
        index.add([*prompt, *output[:-1]])
    return ceilings
