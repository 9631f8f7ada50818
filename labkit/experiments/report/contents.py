"""What a run's report holds, in order. A part of the results that has nothing to say leaves no trace."""

from __future__ import annotations

from collections.abc import Callable

from labkit.experiments.report.abstract import abstract
from labkit.experiments.report.blocks import Block, Section
from labkit.experiments.report.dictionary import dictionary
from labkit.experiments.report.fingerprints import fingerprint
from labkit.experiments.report.limits import limits
from labkit.experiments.report.material import Material
from labkit.experiments.report.method import method
from labkit.experiments.report.page import Page
from labkit.experiments.report.reproduce import reproduce
from labkit.experiments.report.results.arms import arms
from labkit.experiments.report.results.drafters import drafters
from labkit.experiments.report.results.drafts import drafts
from labkit.experiments.report.results.gains import gains, headline
from labkit.experiments.report.results.gap import gap
from labkit.experiments.report.results.gpus import gpus
from labkit.experiments.report.results.growth import growth
from labkit.experiments.report.results.latency import latency
from labkit.experiments.report.results.ledger import ledger
from labkit.experiments.report.results.load import company, held
from labkit.experiments.report.results.money import cost, energy
from labkit.experiments.report.results.success import success
from labkit.experiments.report.results.tokens import tokens
from labkit.experiments.report.results.turns import turns
from labkit.experiments.report.title import byline, kicker, question

Part = Callable[[Material], tuple[Block, ...]]
PARTS: tuple[Part, ...] = (
    *(success, arms, gains, growth, drafters, held, company, turns),
    *(latency, gap, tokens, drafts, ledger, cost, energy, gpus),
)


def run_page(material: Material) -> Page:
    """The whole report of one run."""
    results = tuple(block for part in PARTS for block in part(material))
    return Page(
        title=question(material),
        kicker=kicker(material),
        byline=byline(material),
        abstract=abstract(material),
        figures=headline(material),
        sections=(
            method(material),
            Section("results", "Results", results),
            limits(material),
            fingerprint(material),
            reproduce(material),
            dictionary(),
        ),
        footer=f"Written by labkit from the run's own folder, {material.info.id}. It needs no network to be read.",
    )
