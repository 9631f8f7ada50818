"""Where the prompt's tokens came from, per arm, against what a perfect cache could have served."""

from __future__ import annotations

from labkit.experiments.report.blocks import Block, Heading, beside
from labkit.experiments.report.material import Material
from labkit.plots.theme import arm_order
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info


def tokens(material: Material) -> tuple[Block, ...]:
    """One figure per arm that reported its prompt tokens; none under load, where turns mix."""
    if len(material.windows):
        return ()
    infos = [tokens_per_turn_info(material.drawable, arm) for arm in arm_order(material.arms)]
    figures = beside(infos, tokens_per_turn_figure)
    return (Heading("Prompt tokens by source"), *figures) if figures else ()
