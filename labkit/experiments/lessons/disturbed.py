"""Runs whose times are not the engine's alone: counts of tokens can be read from them, and seconds cannot."""

from __future__ import annotations

from collections.abc import Iterable

from labkit.experiments.report.english import listed
from labkit.experiments.verdict import OTHERS_KEPT
from labkit.store.runs import Run


def disturbed(runs: Iterable[Run]) -> str:
    """Why no time of these runs is to be read, as a clause without a full stop; empty when all of them were quiet."""
    infos = [run.info for run in runs]
    busy = [info.id for info in infos if OTHERS_KEPT in info.note]
    cut = [info.id for info in infos if info.state == "cancelled" and info.id not in busy]
    said = [f"others kept the machine busy during {_named(busy)}"] if busy else []
    said += [f"{_named(cut)} {'was' if len(cut) == 1 else 'were'} cancelled"] if cut else []
    return " and ".join(said)


def _named(ids: list[str]) -> str:
    return listed(f"run {each}" for each in dict.fromkeys(ids))
