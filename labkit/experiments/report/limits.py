"""Limits: what this machine and this n cannot show, and everything that went wrong or may have disturbed."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.analysis.starts import starts_of
from labkit.core.arms import arm_named
from labkit.experiments.bystanders import MANY_CORES
from labkit.experiments.order import order_seed
from labkit.experiments.report.blocks import Block, Code, More, Points, Section
from labkit.experiments.report.counters import restarts, unconfirmed
from labkit.experiments.report.english import capital, counted, listed, sentence
from labkit.experiments.report.material import Material
from labkit.plots.theme import arm_order

FEW_TASKS = 5
"""Below this many clusters an interval over tasks is not to be had."""
_NO_DRIFT = "The first arm was not measured again at the end, so drift of the machine is not known."
_FIXED = (
    "The arms were measured in a fixed order: drift of the machine cannot be told from an effect of an arm. "
    "`labkit run factorial` measures in shuffled order, with repeats."
)
_RECORDED = (
    "The recorded assistant text went into the next turn, so blocks that the engine made while decoding could be "
    "reused only as far as it said the same: a live agent may see a higher hit rate."
)
_PINNED = "Replies had the recorded length: times can be compared; acceptance and task success cannot."
_NO_GAPS = "The time between steps was left out: a cache that is under pressure from others had less time to evict."


def limits(material: Material) -> Section:
    """The section. It is never empty: a run always has an n."""
    said = tuple(sentence(text) for text in _said(material) if text)
    return Section("limits", "Limits", (Points(said), *_logs(material)))


def _said(material: Material) -> Iterator[str]:
    yield from _state(material)
    yield from _size(material)
    yield from _design(material)
    yield from _machine(material)
    yield capital(material.client.in_words()) if len(material.measured) else ""
    yield from (*unconfirmed(material), *restarts(material))
    yield from material.run.problems()


def _state(material: Material) -> Iterator[str]:
    info = material.info
    words = {"running": "is still going on", "done": "came to its end"}
    if info.state != "done":
        yield f"This run {words.get(info.state, f'ended {info.state}')}: the numbers are of what it measured until then"
    yield from info.note.splitlines()
    for arm, said in material.view.refused.items():
        if said not in info.note:
            yield f"{arm} was refused, in the engine's words: {said}"
    for arm, said in material.view.died.items():
        if said not in info.note:
            yield f"The engine of {arm} died: {said}"


def _size(material: Material) -> Iterator[str]:
    tasks, repeats = (material.measured[name].nunique() for name in ("task", "repeat"))
    if not len(material.measured):
        yield "Nothing was measured, so nothing can be concluded"
    elif tasks < FEW_TASKS:
        have = f"{counted(tasks, 'task')}, {counted(repeats, 'repeat')}"
        yield f"{have}: with fewer than {FEW_TASKS} tasks this speaks of these requests, not of agents in general"


def _design(material: Material) -> Iterator[str]:
    asked, steps = material.asked, material.measured
    if len(material.arms) > 1:
        yield _FIXED if order_seed(material.info.experiment, asked) is None else ""
        yield _one_start(material)
        yield _NO_DRIFT if material.drift is None else capital(material.drift.in_words())
    replayed = steps[steps["recording"] != ""]
    yield _RECORDED if len(replayed) and (replayed["history"] == "recorded").any() else ""
    yield _PINNED if (steps["mode"] == "pinned").any() else ""
    yield _NO_GAPS if len(replayed) and asked.get("gaps") is False else ""


def _one_start(material: Material) -> str:
    """Arms whose repeats were all served by one start of an engine."""
    steps, starts = material.measured, starts_of(material.measured)
    repeats = steps["repeat"].unique()
    kept = [arm for arm in material.arms if len(starts.of(arm, repeats)) == 1 < _repeats(material, arm)]
    if not kept:
        return ""
    said = f"All repeats of {listed(kept)} were served by one start of an engine"
    return f"{said}: how much starts differ cannot be seen, and times have no verdict"


def _repeats(material: Material, arm: str) -> int:
    return int(material.measured.loc[material.measured["arm"] == arm, "repeat"].nunique())


def _machine(material: Material) -> Iterator[str]:
    cpu = material.info.fingerprint.get("cpu") or {}
    split = [arm for arm in arm_order(material.arms) if arm_named(arm).pd_split]
    if split and not material.info.fingerprint.get("gpu"):
        threads = f"{cpu['usable_threads']} " if cpu.get("usable_threads") else ""
        shared = f"Prefill and decode of {listed(split)} shared the same {threads}processors"
        yield f"{shared}: what a split gains on two machines cannot show here"
    yield from _bystanders(material)
    near = {name for event in material.told("serving") for name in event.get("neighbours") or ()}
    yield f"Other engines were up on the machine: {listed(sorted(near))}" if near else ""


def _bystanders(material: Material) -> Iterator[str]:
    cores = [event["cores"] for event in material.told("bystanders") if event.get("cores") is not None]
    if not cores or "cores busy" in material.info.note:
        return
    if max(cores) > MANY_CORES:
        many = sum(one > MANY_CORES for one in cores)
        yield (
            f"Other processes kept up to {max(cores):.1f} cores busy in {many} of {counted(len(cores), 'block')}: "
            "times are too long there"
        )
    else:
        yield f"Other processes kept at most {max(cores):.2f} cores busy in any of {counted(len(cores), 'block')}"


def _logs(material: Material) -> Iterator[Block]:
    for arm, tail in material.view.log_tail.items():
        if tail:
            yield More(f"The end of the log of {arm}", (Code("\n".join(map(str, tail))),))
