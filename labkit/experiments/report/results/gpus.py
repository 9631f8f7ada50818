"""What the GPUs did while each arm was measured; nothing in a run in which none was read."""

from __future__ import annotations

from labkit.experiments.compared import Part
from labkit.experiments.gpu_words import HEAD, arms_of_gpus, cells, note
from labkit.experiments.report.blocks import Block, Grid
from labkit.experiments.report.material import Material
from labkit.experiments.report.results.by_cache import by_cache


def gpus(material: Material) -> tuple[Block, ...]:
    """A row for each arm, all GPUs together."""
    return by_cache(material, "GPUs", lambda part: _part(material, part))


def _part(material: Material, part: Part) -> tuple[Block, ...]:
    rows = arms_of_gpus(material.samples, part.steps)
    return (
        (Grid(HEAD, tuple(map(cells, rows)), "All GPUs of the machine or the nodes that measured", note(rows)),)
        if rows
        else ()
    )
