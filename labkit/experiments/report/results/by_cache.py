"""Cold and warm passes apart: a part of the results is about cold ones; that of warm ones is folded away under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, Heading, More
from labkit.experiments.report.material import Material


def by_cache(material: Material, title: str, blocks: Callable[[Part], Sequence[Block]]) -> tuple[Block, ...]:
    """A heading and the blocks of each cache state that has any; nothing where none has."""
    found = [(part, tuple(blocks(part))) for part in material.parts]
    told = [(part, some) for part, some in found if some]
    if not told:
        return ()
    (first, shown), *others = told
    more = (More(part.title(title), some) for part, some in others)
    return Heading(first.title(title)), *shown, *more
