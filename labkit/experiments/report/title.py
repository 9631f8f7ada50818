"""The title of a report: the question that its run answers; and the lines around it."""

from __future__ import annotations

from labkit.experiments.catalogue import EXPERIMENTS
from labkit.experiments.report.english import counted, listed, shown
from labkit.experiments.report.material import Material
from labkit.experiments.words import recordings_in_words

_FEW = 3


def question(material: Material) -> str:
    """The experiment's own question; for an agent's run that of its task; else what was run, named."""
    info = material.info
    if info.experiment == "agent":
        return f"Does the agent reach the goal of {shown(info.asked.get('task'))} under {shown(info.asked.get('arm'))}?"
    if info.experiment == "replay":
        return f"What does each layer do to {recordings_in_words(info.asked) or 'these requests'}?"
    known = {each.name: each.question for each in EXPERIMENTS}
    return known.get(info.experiment, f"What came of {info.experiment}?")


def kicker(material: Material) -> str:
    """What kind of document this is."""
    return f"Agentic Inference Lab · {material.info.experiment} · {material.info.state}"


def byline(material: Material) -> str:
    """Which run, when, on what, how much of it."""
    info, cpu = material.info, material.info.fingerprint.get("cpu") or {}
    facts = (
        f"Run {info.id}",
        f"{info.created[:16].replace('T', ' ')} UTC",
        str(info.fingerprint.get("model") or ""),
        str(cpu.get("model") or ""),
        f"n = {counted(len(material.measured), 'request')} under {_arms(material.arms)}",
    )
    return " · ".join(filter(None, facts))


def _arms(arms: list[str]) -> str:
    """By name where they are few: the abstract names all."""
    return counted(len(arms), "arm") if len(arms) > _FEW else listed(arms) or "no arm"
