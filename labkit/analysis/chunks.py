"""How many tokens came in a chunk: a chunk is not a token.

Speculation, an engine's stream interval and asynchronous scheduling bundle tokens, so that gaps between chunks are no
times of tokens. The histogram says by how much; it is from token ids, and chunks of an engine that sends none are not
in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.tables import measured, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class ChunkSizeRow(Record):
    """Chunks of one arm that carried so many tokens."""

    arm: str = column("string", "", "label of the arm")
    tokens: int = column("int64", "tokens", "tokens in the chunk")
    n: int = column("int64", "", "chunks with so many tokens")
    share: float = column("float64", "", "of the arm's chunks whose tokens are known, 0 to 1")
    share_of_tokens: float = column("float64", "", "of the arm's tokens, 0 to 1")


def chunk_sizes(chunks: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and size, arms in the lab's order; columns as ChunkSizeRow declares them. Warm-up left out."""
    kept = measured(chunks)
    rows = [row for arm in in_order(kept["arm"]) for row in _sizes(arm, kept[kept["arm"] == arm])]
    return typed_frame(ChunkSizeRow, rows)


def tokens_per_chunk(chunks: pd.DataFrame) -> float | None:
    """Mean tokens of a chunk, warm-up left out; None where no chunk told its token ids."""
    tokens = numbers(measured(chunks), "tokens")
    return None if np.isnan(tokens).all() else float(np.nanmean(tokens))


def _sizes(arm: str, chunks: pd.DataFrame) -> list[ChunkSizeRow]:
    tokens = numbers(chunks, "tokens")
    sizes, counts = np.unique(tokens[~np.isnan(tokens)].astype(np.int64), return_counts=True)
    carried = max(1, int((sizes * counts).sum()))
    return [
        ChunkSizeRow(
            arm=arm,
            tokens=int(size),
            n=int(n),
            share=float(n / counts.sum()),
            share_of_tokens=float(size * n / carried),
        )
        for size, n in zip(sizes, counts, strict=True)
    ]
