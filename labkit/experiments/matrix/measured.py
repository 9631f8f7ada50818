"""What runs have measured, and what engines refused in them: the evidence that is stronger than any parser.

A run counts for a cell when the engine that served it had the cell's profile, arm and drafter, the command line that
the cell's plan has today, and the version that the matrix is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from labkit.core.arms import arm_named
from labkit.core.errors import LabError
from labkit.core.records import RunInfo
from labkit.engines.plan import Plan
from labkit.engines.profiles import Profile
from labkit.experiments.attached.kept import attached_engines
from labkit.experiments.matrix.machines import engine_version, machine_in_words, measured_here
from labkit.experiments.matrix.same_engine import same_command_lines, wanted_today
from labkit.experiments.view import Events, RunView, view_of
from labkit.store.examples import examples, info_in
from labkit.store.runs import Run, RunStore

_ENDED = ("done", "partial")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Of one run about one cell. `steps`: measured without an error; 0 where the engine `refused`, in its words.

    `here`: on this machine; `shipped`: the run came with the project. `machine`: in words. `created`: ISO 8601.
    """

    run: str
    created: str
    profile: str
    arm: str
    method: str | None
    version: str | None
    machine: str
    here: bool
    shipped: bool
    steps: int = 0
    refused: str = ""


def evidence(profiles: Mapping[str, Profile], store: RunStore | None) -> list[Evidence]:
    """Of the ended runs under these profiles, by name: those of the store, if any, then the shipped ones."""
    own = store.runs() if store else []
    shipped = [path for name, path in examples().items() if not (store and store.has(name))]
    found = [each for run in own for each in _of_run(run, profiles, shipped=False)]
    return found + [each for path in shipped for each in _of_shipped(path, profiles)]


def _of_shipped(path: Path, profiles: Mapping[str, Profile]) -> list[Evidence]:
    """Unpacked only where it is about one of the profiles."""
    try:
        if info_in(path).fingerprint.get("profile") not in profiles:
            return []
        return list(_of_run(RunStore().open(str(path)), profiles, shipped=True))
    except LabError:
        return []


def _of_run(run: Run, profiles: Mapping[str, Profile], *, shipped: bool) -> Iterator[Evidence]:
    info = run.info
    profile = profiles.get(str(info.fingerprint.get("profile")))
    if profile is None or info.state not in _ENDED or attached_engines(info.fingerprint):
        return
    about, events = _about(info, profile, shipped), run.events()
    yield from _measured(run.steps(), events, profile, about)
    if any(event["type"] == "refused" for event in events):
        yield from _refused(view_of(info, events, run.steps(), run.chunks()), profile, about)


def _about(info: RunInfo, profile: Profile, shipped: bool) -> dict[str, Any]:
    return {
        "run": info.id,
        "created": info.created,
        "profile": info.fingerprint["profile"],
        "version": engine_version(info.fingerprint, profile),
        "machine": machine_in_words(info.fingerprint),
        "here": not shipped and measured_here(info.fingerprint),
        "shipped": shipped,
    }


def _measured(steps: pd.DataFrame, events: Events, profile: Profile, about: Mapping[str, Any]) -> Iterator[Evidence]:
    """Of each engine that served an arm and answered at least one step that is not thrown away."""
    good = steps[~steps["warmup"].astype(bool) & steps["error"].isna()]
    n = Counter(zip(good["arm"], good["engine"], strict=True))
    serving = [event for event in events if event["type"] == "serving" and event.get("plan")]
    served = {(event["arm"], event["engine"]): Plan.from_dict(event["plan"]) for event in serving}
    for (arm, engine), plan in served.items():
        if n[arm, engine] and same_command_lines(plan, profile, arm):
            yield Evidence(arm=arm, method=plan.method, steps=n[arm, engine], **about)


def _refused(seen: RunView, profile: Profile, about: Mapping[str, Any]) -> Iterator[Evidence]:
    """Where a process of the engine spoke: a program or a port that is missing is no refusal of the engine's.

    Not of a run over several drafters, whose events do not say which one an arm was refused with.
    """
    asked = seen.info.asked
    drafter = asked.get("spec_method") or profile.layers.speculation.default
    for arm, words in seen.refused.items():
        method = drafter if arm_named(arm).speculation else None
        if seen.log_tail[arm] and not asked.get("methods") and wanted_today(seen.info, profile, arm, method):
            yield Evidence(arm=arm, method=method, refused=words, **about)
