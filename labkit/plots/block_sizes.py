"""What does a larger block cost the cache? The ceiling of the same requests, a bar for each block size."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing, percent
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import Mode, part_color

TITLE = "What does a larger block cost the cache?"


@dataclass(frozen=True, kw_only=True)
class BlockSizesInfo:
    """For each of `sizes` (tokens): the ceiling of the hit rate, 0 to 1. `shared`: what no rounding would leave.

    `engine`: the block size that the engine had; None: not known, or none of these.
    """

    caption: Caption
    sizes: tuple[int, ...]
    ceilings: tuple[float, ...] = ()
    shared: float | None = None
    engine: int | None = None


def block_sizes_info(rows: pd.DataFrame, engine: int | None = None) -> BlockSizesInfo:
    """`rows`: as `labkit.analysis.block_sizes.by_block_size` returns them. `engine`: the size that the engine had."""
    known = rows[[not missing(value) for value in rows["hit_ceiling"]]]
    if not len(known):
        return BlockSizesInfo(caption=Caption(title=TITLE, empty="No step has its shared tokens measured."), sizes=())
    sizes, ceilings = tuple(map(int, known["block_size"])), tuple(map(float, known["hit_ceiling"]))
    first = known.iloc[0]
    return BlockSizesInfo(
        caption=_caption(sizes, ceilings, int(first["n"]), float(first["shared"] / first["prompt"])),
        sizes=sizes,
        ceilings=ceilings,
        shared=float(first["shared"] / first["prompt"]),
        engine=engine if engine in sizes else None,
    )


def block_sizes_figure(info: BlockSizesInfo, mode: Mode = "light") -> go.Figure:
    """Bars, the engine's own one plain and the others hatched."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=280, showlegend=False)
    figure.add_bar(
        x=[str(size) for size in info.sizes],
        y=info.ceilings,
        marker_color=part_color("cached", mode),
        marker_pattern_shape=["" if size == info.engine else "/" for size in info.sizes],
        text=[percent(ceiling) for ceiling in info.ceilings],
        textposition="outside",
        hovertemplate="%{x} tokens a block: %{y:.1%}<extra></extra>",
    )
    figure.update_xaxes(title="tokens in a block", type="category")
    figure.update_yaxes(
        title="share of prompt tokens", range=[0, 1.1], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1]
    )
    return figure


def _caption(sizes: tuple[int, ...], ceilings: tuple[float, ...], n: int, shared: float) -> Caption:
    words = "; ".join(f"{size}: {percent(ceiling)}" for size, ceiling in zip(sizes, ceilings, strict=True))
    count = counted(n, "step")
    return Caption(
        title=TITLE,
        note=f"Most that an infinite cache could serve; n = {count}, the same for each bar. Plain: the engine's own "
        f"block size; hatched: worked out for another. {percent(shared)} of the tokens was seen before.",
        alt=f"Ceiling of the hit rate by tokens in a block. {words}; {count}.",
    )
