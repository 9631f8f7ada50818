"""Turn by turn: how first token and reply grow with the conversation. A mean over turns would hide both."""

from __future__ import annotations

from labkit.experiments.report.blocks import Block, Heading, beside
from labkit.experiments.report.material import Material
from labkit.plots.per_turn import Measure, per_turn_figure, per_turn_info

_MEASURES: tuple[Measure, ...] = ("ttft", "e2e")


def turns(material: Material) -> tuple[Block, ...]:
    """A figure of the time to first token and one of the whole reply; nothing for a single turn, nor under load."""
    if not material.n_finished or material.measured["turn"].nunique() < 2 or len(material.windows):
        return ()
    infos = [per_turn_info(material.drawable, measure) for measure in _MEASURES]
    figures = beside(infos, per_turn_figure)
    return (Heading("Turn by turn"), *figures) if figures else ()
