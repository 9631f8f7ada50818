"""A notebook's run: measured now, or opened as it was measured before.

run = measured("steps", {"profile": "cpu-smollm2", "counts": [1, 5]}, engine="live", stored="20261130T...-steps-ab12cd")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from textwrap import fill
from typing import Any, Literal

from labkit.core.errors import BadInput
from labkit.experiments.lessons.asked_otherwise import asked_otherwise
from labkit.experiments.waiting import run_and_wait
from labkit.store.runs import Run, RunStore

ENGINES = ("live", "stored")
_LINE = 100


def measured(
    experiment: str,
    question: Mapping[str, Any],
    engine: Literal["live", "stored"] | str,
    stored: str,
    say: Callable[[str], None] = print,
) -> Run:
    """`live`: ask the question of an engine now, and wait. `stored`: open the run of this name, and measure nothing.

    `stored` is anything that `RunStore.open` takes: an id, `latest`, a folder, a .zip. Either way the last thing said
    is which run it is, where it was measured, and of a stored one what it was asked otherwise. Raises BadInput for
    another `engine` or a run without a step, what `run_and_wait` raises, and what `RunStore.open` raises.
    """
    if engine not in ENGINES:
        raise BadInput("ENGINE", engine, " or ".join(ENGINES))
    run = run_and_wait(experiment, question, over_itself(say)) if engine == "live" else RunStore().open(stored)
    if not len(run.steps()):
        raise BadInput("RUN", run.id, "a run with at least one finished step", run.info.note)
    unlike = [] if engine == "live" else asked_otherwise(experiment, question, run)
    say("\n".join([("\n" if engine == "live" else "") + where(run, engine), *_indented(unlike)]))
    return run


def where(run: Run, engine: str) -> str:
    """`stored run ID, measured on 2026-11-30 on 2 cores of an Intel ...`, and below it what the run notes of itself."""
    info = run.info
    cpu = info.fingerprint.get("cpu") or {}
    cores, model = cpu.get("cores"), cpu.get("model")
    machine = f" on {cores} cores of an {model}" if cores and model else ""
    head = f"{engine} run {run.id}, measured on {info.created[:10]}{machine}; {info.state}."
    return "\n".join([head, *_indented(f"note: {line}" for line in info.note.splitlines())])


def _indented(lines: Iterable[str]) -> list[str]:
    return [fill(line, _LINE, initial_indent="  ", subsequent_indent="    ") for line in lines]


def over_itself(say: Callable[[str], None]) -> Callable[[str], None]:
    """Progress in one line that is written over itself, as a cell that prints hundreds of them cannot be read."""
    return (lambda line: print(f"\r{line[:_LINE]:<{_LINE}}", end="", flush=True)) if say is print else say
