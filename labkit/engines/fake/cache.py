"""A prefix cache of whole blocks with the rules of vLLM's: chained keys, a salt in the first, least recently used out.

At most `len(ids) - 1` tokens can hit: the last one must be computed to have something to sample from.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence


class BlockCache:
    """`block_size` tokens per block, `num_blocks` blocks kept."""

    def __init__(self, block_size: int, num_blocks: int) -> None:
        self.block_size = block_size
        self.num_blocks = num_blocks
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def hit(self, ids: Sequence[int], salt: str | None) -> int:
        """How many leading tokens are cached."""
        found = 0
        for key in self._keys(ids[:-1], salt):
            if key not in self._blocks:
                break
            found += 1
        return found * self.block_size

    def store(self, ids: Sequence[int], salt: str | None) -> None:
        """Keep the whole blocks of `ids` as just used; the tail of a prefix is evicted before its head."""
        for key in reversed(self._keys(ids, salt)):
            self._blocks[key] = None
            self._blocks.move_to_end(key)
        while len(self._blocks) > self.num_blocks:
            self._blocks.popitem(last=False)

    def clear(self) -> None:
        self._blocks.clear()

    def _keys(self, ids: Sequence[int], salt: str | None) -> list[int]:
        keys: list[int] = []
        for start in range(0, len(ids) - self.block_size + 1, self.block_size):
            parent = keys[-1] if keys else hash(salt)
            keys.append(hash((parent, *ids[start : start + self.block_size])))
        return keys
