"""The last lines of a run in a terminal: how to see it again, or to ask for it anew where there is nothing to see."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.experiments.factorial import NAME as FACTORIAL
from labkit.experiments.words import asked_in_words
from labkit.store.runs import Run


def go_on_lines(run: Run) -> Iterator[str]:
    """A line each. A factorial that was cut short can be gone on with, which its own command says; no other can."""
    info, steps = run.info, run.steps()
    measured = len(steps) and not steps["warmup"].astype(bool).all()
    again = asked_in_words(info.experiment, info.asked, info.fingerprint)
    if measured:
        yield f"See it again: labkit show {info.id}. Dashboard: make app. Notebooks: make lab."
    else:
        yield "Nothing was measured, so there is nothing to see again."
    if info.experiment != FACTORIAL and again.startswith("labkit ") and (not measured or info.state == "cancelled"):
        only = "Only labkit run factorial can be gone on with. " if info.state == "cancelled" else ""
        yield f"{only}Begin anew: {again}"
