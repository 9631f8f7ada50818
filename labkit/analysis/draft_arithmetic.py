"""What a draft model takes on a target machine, by arithmetic: weights, and the layers that it adds to every KV block.

Parameters of a dense Qwen3 model: the embedding (once where it is tied), and per layer four attention projections,
three of the MLP and four norms. KV: 2 x layers x KV heads x head size x bytes, over all GPUs. Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from labkit.analysis.tables import typed_frame
from labkit.core.columns import column
from labkit.core.records import Record


class Dense(NamedTuple):
    """A dense decoder, as its config.json has it; its embedding is tied to its head."""

    name: str
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_size: int = 128
    vocabulary: int = 151_936

    @property
    def parameters(self) -> int:
        """All weights, norms included."""
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = self.hidden * (2 * queries + 2 * keys) + 2 * self.head_size
        layer = attention + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return self.vocabulary * self.hidden + self.layers * layer + self.hidden

    def kv_bytes(self, width: int = 2) -> int:
        """Bytes of KV cache that a token takes, over all GPUs. `width`: bytes of one value."""
        return 2 * self.layers * self.kv_heads * self.head_size * width


QWEN3_DRAFTS = (
    Dense("Qwen3-0.6B", layers=28, hidden=1024, intermediate=3072, heads=16, kv_heads=8),
    Dense("Qwen3-1.7B", layers=28, hidden=2048, intermediate=6144, heads=16, kv_heads=8),
    Dense("Qwen3-4B", layers=36, hidden=2560, intermediate=9728, heads=32, kv_heads=8),
)
"""From the config.json of each model."""
TARGET_KV_BYTES = 2 * 94 * 4 * 128 * 2
"""Of Qwen3-235B-A22B, a token, in bfloat16: 94 layers of 4 KV heads."""


@dataclass(frozen=True, kw_only=True)
class DraftRow(Record):
    """One draft beside Qwen3-235B-A22B. By arithmetic."""

    draft: str = column("string", "", "draft model; `none`: no draft")
    parameters: float | None = column("float64", "billions", "of the draft", nullable=True)
    weights_gb: float = column("float64", "GB", "its weights in bfloat16, over all GPUs")
    kv_kib: float = column("float64", "KiB", "KV cache of a token, target and draft, over all GPUs")
    tokens: float = column("float64", "millions", "that fit into the memory which the target leaves for KV")
    room: float = column("float64", "", "of the tokens that fit without a draft, 0 to 1")
    taken_gb: float = column("float64", "GB", "what the draft takes of that memory: weights, and its share of the KV")


def draft_table(pool_gb: float, drafts: Sequence[Dense] = QWEN3_DRAFTS) -> pd.DataFrame:
    """One row without a draft, then one per draft; columns as DraftRow declares them.

    `pool_gb`: GB that all GPUs of one replica have for KV cache and draft, when the target is loaded. The draft is
    shared out over the same GPUs, as vLLM 0.32 wants it.
    """
    alone = pool_gb * 1e9 / TARGET_KV_BYTES
    rows = [
        DraftRow(
            draft="none", weights_gb=0.0, kv_kib=TARGET_KV_BYTES / 1024, tokens=alone / 1e6, room=1.0, taken_gb=0.0
        )
    ]
    return typed_frame(DraftRow, rows + [_row(draft, pool_gb, alone) for draft in drafts])


def _row(draft: Dense, pool_gb: float, alone: float) -> DraftRow:
    weights, per_token = 2 * draft.parameters, TARGET_KV_BYTES + draft.kv_bytes()
    tokens = max(0.0, pool_gb * 1e9 - weights) / per_token
    return DraftRow(
        draft=draft.name,
        parameters=draft.parameters / 1e9,
        weights_gb=weights / 1e9,
        kv_kib=per_token / 1024,
        tokens=tokens / 1e6,
        room=tokens / alone,
        taken_gb=pool_gb * (1 - tokens / alone),
    )
