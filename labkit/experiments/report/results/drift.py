"""Drift: the first arm once more at the end of the run, against its first block, request by request."""

from __future__ import annotations

from labkit.experiments.report.blocks import Block, Heading, Words
from labkit.experiments.report.english import capital, sentence
from labkit.experiments.report.material import Material


def drift(material: Material) -> tuple[Block, ...]:
    """One sentence; nothing in a run that did not measure its first arm again."""
    row = material.drift
    if row is None:
        return ()
    return Heading("Drift of the machine"), Words(sentence(capital(row.in_words())))
