"""What another block size would have left of a run's cache: the ceiling of the same requests, without their tokens.

A run keeps of every step how many tokens its prompt has in common with something before it (`shared_tokens`). A block
hits when all of it lies within these and was stored, so the ceiling for blocks of B tokens is what was stored of them,
rounded down to whole blocks, and below the prompt's last token (the rules of `analysis.ceiling`). Seen and not stored
is the last token of the reply before; with drafts it may be more, and a ceiling one block too high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.tables import Floats, is_finished, measured, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.errors import BadInput
from labkit.core.records import Record

SIZES = (16, 32, 64, 128, 256)
_PASS = ["arm", "task", "recording", "agent", "condition", "cache", "repeat"]


@dataclass(frozen=True, kw_only=True)
class BlockSizeRow(Record):
    """The requests of a table under one block size, summed."""

    block_size: int = column("int64", "tokens", "tokens in a block of the KV cache")
    n: int = column("int64", "", "finished steps whose prompt and shared tokens are known")
    prompt: int = column("int64", "tokens", "prompt tokens")
    shared: int = column("int64", "tokens", "of these, in common with something before, not rounded")
    ceiling: int = column("int64", "tokens", "of these, what an infinite cache of such blocks could have served")
    hit_ceiling: float | None = column("float64", "", "ceiling / prompt", nullable=True)
    n_nothing: int = column("int64", "", "steps that shared something of which no block could hit")


def by_block_size(steps: pd.DataFrame, sizes: Sequence[int] = SIZES) -> pd.DataFrame:
    """One row per size, as BlockSizeRow declares them; warm-up and failed steps left out. Raises BadInput."""
    known = _known(steps)
    return typed_frame(BlockSizeRow, [_row(known, size) for size in sizes])


def ceilings_at(steps: pd.DataFrame, block_size: int) -> pd.DataFrame:
    """The steps whose prompt and shared tokens are known, with `ceiling_at`: their ceiling at this size, in tokens."""
    known = _known(steps)
    return known.assign(ceiling_at=_ceilings(known, block_size))


def at_most(prompt_tokens: int, block_size: int) -> int:
    """Tokens that can hit of a prompt that was sent before, word for word: whole blocks, and fewer than all."""
    _check(block_size)
    return max(0, prompt_tokens - 1) // block_size * block_size


def _known(steps: pd.DataFrame) -> pd.DataFrame:
    kept = measured(steps)
    kept = kept[is_finished(kept) & kept[["prompt_tokens", "shared_tokens"]].notna().all(axis=1)]
    return kept.sort_values([*_PASS, "turn"]).reset_index(drop=True)


def _stored(steps: pd.DataFrame) -> Floats:
    """Shared tokens that were stored: all but a reply's last one, where a prompt carries all of the step before."""
    before = steps.groupby(_PASS, sort=False)[["turn", "prompt_tokens", "completion_tokens"]].shift()
    follows = numbers(before, "turn") == numbers(steps, "turn") - 1
    end = np.where(follows, numbers(before, "prompt_tokens") + numbers(before, "completion_tokens"), np.nan)
    shared = numbers(steps, "shared_tokens")
    return np.where(shared == end, shared - 1, shared)


def _ceilings(known: pd.DataFrame, block_size: int) -> Floats:
    _check(block_size)
    most = np.minimum(_stored(known), numbers(known, "prompt_tokens") - 1)
    ceilings: Floats = np.floor(np.maximum(most, 0) / block_size) * block_size
    return ceilings


def _row(known: pd.DataFrame, block_size: int) -> BlockSizeRow:
    ceilings = _ceilings(known, block_size)
    prompt, shared = numbers(known, "prompt_tokens").sum(), numbers(known, "shared_tokens")
    return BlockSizeRow(
        block_size=block_size,
        n=len(known),
        prompt=int(prompt),
        shared=int(shared.sum()),
        ceiling=int(ceilings.sum()),
        hit_ceiling=float(ceilings.sum() / prompt) if prompt else None,
        n_nothing=int(((shared > 0) & (ceilings == 0)).sum()),
    )


def _check(block_size: int) -> None:
    if block_size < 1:
        raise BadInput("block_size", block_size, "a whole number from 1", "Use the engine's --block-size.")
