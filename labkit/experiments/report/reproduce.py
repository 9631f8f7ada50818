"""How to get these numbers again: the command, and what must be the same."""

from __future__ import annotations

from labkit.experiments.report.blocks import Block, Code, Section, Words
from labkit.experiments.report.material import Material
from labkit.experiments.words import asked_in_words


def reproduce(material: Material) -> Section:
    """The section. For an experiment that this labkit does not know: its parameters by name."""
    asked = asked_in_words(material.info.experiment, material.asked, material.info.fingerprint)
    blocks: list[Block] = []
    if asked.startswith("labkit "):
        blocks.append(Code(f"{_checkout(material)}{asked}"))
    else:
        blocks.append(Words(f"Experiment {material.info.experiment}" + (f", asked with {asked}." if asked else ".")))
    blocks += [
        Words("The very numbers of this report, computed again from the run's folder:"),
        Code(f"labkit report {material.info.id}\nlabkit export {material.info.id} --format csv"),
        Words(
            "Another machine, engine version or model gives other times. `labkit compare` pairs two runs request by "
            "request and lists first what differs between them."
        ),
    ]
    return Section("reproduce", "How to reproduce", tuple(blocks))


def _checkout(material: Material) -> str:
    commit = (material.info.fingerprint.get("git") or {}).get("commit")
    return f"git checkout {commit}\nmake setup\n" if commit else ""
