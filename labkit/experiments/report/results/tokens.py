"""Where the prompt's tokens came from, per arm, against what a perfect cache could have served."""

from __future__ import annotations

from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, beside
from labkit.experiments.report.material import Material, drawable
from labkit.experiments.report.results.by_cache import by_cache
from labkit.plots.theme import arm_order
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info


def tokens(material: Material) -> tuple[Block, ...]:
    """One figure per arm that reported its prompt tokens; none under load, where turns mix."""
    if len(material.windows):
        return ()
    return by_cache(material, "Prompt tokens by source", _part)


def _part(part: Part) -> tuple[Block, ...]:
    steps = drawable(part.steps)
    return beside([tokens_per_turn_info(steps, arm) for arm in arm_order(steps["arm"])], tokens_per_turn_figure)
