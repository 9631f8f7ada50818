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

    Work is linear in the tokens given; memory in the distinct blocks.
    """

    def __init__(self, block_size: int) -> None:
        """`block_size`: tokens per block, as the engine's. Raises BadInput when it is not positive."""
        if block_size < 1:
            raise BadInput("block_size", block_size, "a whole number from 1", "Use the engine's --block-size.")
        self.block_size = block_size
        self._children: dict[tuple[int, tuple[int, ...]], int] = {}

    def ceiling(self, prompt: Tokens) -> int:
        """Tokens of `prompt` that could come from what was added: whole blocks, and fewer than all."""
        node, hit = 0, 0
        while hit + self.block_size < len(prompt):
            child = self._children.get((node, tuple(prompt[hit : hit + self.block_size])))
            if child is None:
                break
            node, hit = child, hit + self.block_size
        return hit

    def add(self, tokens: Tokens) -> None:
        """Remember the whole blocks of `tokens`."""
        node = 0
        for start in range(0, len(tokens) - self.block_size + 1, self.block_size):
            key = (node, tuple(tokens[start : start + self.block_size]))
            node = self._children.setdefault(key, len(self._children) + 1)


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
