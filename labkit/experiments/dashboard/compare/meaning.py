"""What a run means, in two plain sentences made from its numbers: what pays and by how much, and what not to conclude.

For somebody who decides and does not measure. The verdicts are those of `analysis/effect_words.py`: where they say too
few to tell, so does this, with the reason and with what it would take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.effects import Gains
from labkit.analysis.format import missing
from labkit.core.arms import LAYERS, Arm, arm_named
from labkit.experiments.dashboard.compare.compare import Scope
from labkit.experiments.dashboard.compare.doubts import Doubt
from labkit.experiments.dashboard.compare.gain_words import (
    Subject,
    arm_in_words,
    briefly,
    does,
    evidence,
    gained,
    is_told,
    of_one_task,
    why_untold,
)
from labkit.experiments.dashboard.compare.meant import Meaning
from labkit.experiments.dashboard.compare.no_layers import no_layers
from labkit.experiments.report.english import LAYER_NAMES, capital, listed, records

_NO_PAIR = "No request was measured on this in all the settings that would be compared, so it says nothing."
_ELSEWHERE = "Look at another measure, or at the curves below."
_HOLDS = "It holds for these requests on this machine: another model, machine or load may answer otherwise."


def meaning(scope: Scope, of: Gains | None, metric: str, doubts: Sequence[Doubt] = ()) -> Meaning:
    """Of one run. `of`: what was gained in the passes that are looked at; None where nothing can be compared."""
    if scope.kind != "layers" or of is None:
        return weighed(scope.others, None, doubts, page="layers") if scope.others else no_layers(scope, doubts)
    return weighed(subjects(of, metric), best(of, metric), doubts)


def subjects(of: Gains, metric: str) -> list[Subject]:
    """Each layer by the row that can tell most: averaged over the others' settings, else alone against base.

    The arms themselves where no layer has a gain of its own.
    """
    terms, arms = (_by(table, name, metric) for table, name in ((of.effects, "term"), (of.arm_gains, "arm")))
    found = []
    for layer in LAYERS:
        alone = arms.get(Arm(**{layer: True}).label)
        rows = [row for row in (terms.get(layer), alone) if row is not None]
        if rows:
            found.append(Subject(name=LAYER_NAMES[layer], row=next(filter(is_told, rows), rows[0])))
    return found or [Subject(name=arm_in_words(arm), row=row) for arm, row in arms.items()]


def best(of: Gains, metric: str) -> Subject | None:
    """The combination of layers that is clearly better than base and gains most; None without one."""
    arms = _by(of.arm_gains, "arm", metric)
    told = [(arm, row) for arm, row in arms.items() if str(row["verdict"]).startswith("better")]
    if not told:
        return None
    arm, row = max(told, key=lambda each: float(each[1]["gain"]))
    return Subject(name=arm_in_words(arm), row=row) if len(arm_named(arm).layers) > 1 else None


def weighed(found: Sequence[Subject], most: Subject | None, doubts: Sequence[Doubt], page: str = "") -> Meaning:
    """What is said of these gains, and how far."""
    told = [each for each in found if is_told(each.row)]
    untold = [each for each in found if not is_told(each.row)]
    if not found:
        return Meaning(finding=_NO_PAIR, caution=_ELSEWHERE, doubts=tuple(doubts), page=page)
    if not told and most is None:
        return Meaning(finding=_open(untold, page), caution=_nothing(untold), doubts=tuple(doubts), page=page)
    kept = _about(doubts, found[0].row["metric"])
    cautions = [*([_untold(untold, most)] if untold else []), *(doubt.words for doubt in kept)] or [_HOLDS]
    rest = kept if untold else kept[1:]
    return Meaning(finding=_pays(told, most), caution=cautions[0], told=True, doubts=rest, page=page)


def _about(doubts: Sequence[Doubt], metric: str) -> tuple[Doubt, ...]:
    """Token counts do not depend on how busy the machine was."""
    return tuple(doubt for doubt in doubts if not (doubt.of_times and metric == "prompt_computed"))


def _pays(told: Sequence[Subject], most: Subject | None) -> str:
    said = list(_clauses(told))
    if most is not None and all(most.name != each.name for each in told):
        said.append(f"best was {most.name}, {briefly(most.row)}")
    row = (*told, *([most] if most else []))[0].row
    return capital(f"{'; '.join(said)}, on {evidence(row)}.")


def _clauses(told: Sequence[Subject]) -> Iterator[str]:
    """`prefix caching pays: answers came 1.39 times as fast (1.18 to 1.63)`; of the next ones the numbers alone."""
    for subject, said in _each(told):
        task = ", on this one task" if of_one_task(subject.row) else ""
        if str(subject.row["verdict"]).startswith("same"):
            yield f"{subject.name} changes nothing worth having (within 5 %){task}"
        else:
            yield f"{subject.name} {does(subject.row)}: {said}{task}"


def _each(found: Sequence[Subject]) -> Iterator[tuple[Subject, str]]:
    """What came of each; after the first of its direction without the words that were said already."""
    for number, subject in enumerate(found):
        before = [each for each in found[:number] if (each.row["gain"] >= 1) == (subject.row["gain"] >= 1)]
        yield subject, briefly(subject.row) if before else gained(subject.row)


def _open(untold: Sequence[Subject], page: str) -> str:
    seen = listed(f"with {subject.name} {said}" for subject, said in _each(untold))
    whether = f"whether {untold[0].name} pays" if len(untold) == 1 else f"which {'of them' if page else 'layer'} pays"
    return f"Too few to tell {whether}: {seen}, on {evidence(untold[0].row)}."


def _nothing(untold: Sequence[Subject]) -> str:
    said = "; ".join(dict.fromkeys(why_untold(each.row) for each in untold))
    return f"Do not conclude anything from these sizes: {said}."


def _untold(untold: Sequence[Subject], most: Subject | None) -> str:
    said = "; ".join(dict.fromkeys(why_untold(each.row) for each in untold))
    alone = " by itself" if most else ""
    return f"Do not conclude anything of {' or '.join(each.name for each in untold)}{alone}: {said}."


def _by(table: pd.DataFrame, name: str, metric: str) -> dict[str, dict[str, Any]]:
    """The rows that have a gain, by term or arm."""
    return {row[name]: row for row in records(table) if row["metric"] == metric and not missing(row["gain"])}
