"""What is known of each cell, the strongest evidence first: a run here, a run elsewhere, the engine's own parsers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labkit.core.progress import OnProgress, silent
from labkit.engines.accepts.plans import PlansTold, Verdict, asker_of, engine_name
from labkit.engines.profiles import Profile, load_profile
from labkit.experiments.matrix.cells import Cell, CellTable, cell_tables
from labkit.experiments.matrix.kept import read_told
from labkit.experiments.matrix.machines import engine_version
from labkit.experiments.matrix.measured import Evidence, evidence
from labkit.experiments.matrix.records import Known, KnownCell, KnownTable
from labkit.store.fingerprint import host_fingerprint
from labkit.store.runs import RunStore

STALE = "the profile has changed since the engine was asked; labkit matrix --ask asks it now"


def matrix(name: str, *, told: PlansTold | None = None, store: RunStore | None = None) -> Known:
    """The matrix of a profile, by name or path. `told`: the engine's answers; None: the kept ones, if there are any.

    `store`: where this machine's runs are; None: only what ships with the project is looked at.
    Raises UnknownName, and BadInput for a damaged file of answers.
    """
    tables = cell_tables(name)
    profile = tables[0].profile
    told = told or read_told(profile.name)
    version = (told.version if told else None) or _installed(profile)
    runs = evidence({table.profile.name: table.profile for table in tables}, store)
    of_version = _in_order([each for each in runs if same_version(each.version, version)])
    return Known(
        profile=profile.name,
        title=profile.title,
        vendor=profile.machine.vendor,
        engine=engine_name(profile),
        version=version,
        platform=told.platform if told else None,
        asked_on=told.asked_on if told and told.version else None,
        tables=tuple(_table(table, told, of_version) for table in tables),
    )


def ask_engine(name: str, on_progress: OnProgress = silent) -> PlansTold | None:
    """Put every plan of the matrix to the engine that is installed here; None where nobody can ask it."""
    tables = cell_tables(name)
    asker = asker_of(load_profile(name))
    plans = {key: plan for table in tables for key, plan in table.plans.items()}
    return asker(tables[0].profile, list(plans.values()), on_progress) if asker else None


def same_version(one: str | None, other: str | None) -> bool:
    """Whether both are known and equal, whatever build (`+cpu`) they are."""
    return one is not None and other is not None and one.partition("+")[0] == other.partition("+")[0]


def _in_order(runs: Sequence[Evidence]) -> list[Evidence]:
    """Those from here by age, so that the newest decides; from elsewhere the one that measured the most cells first."""
    n = Counter(run.run for run in runs)
    here = sorted((run for run in runs if run.here), key=lambda run: run.created)
    return here + sorted((run for run in runs if not run.here), key=lambda run: (-n[run.run], run.created))


def _installed(profile: Profile) -> str | None:
    return engine_version(host_fingerprint(), profile)


def _table(table: CellTable, told: PlansTold | None, runs: Sequence[Evidence]) -> KnownTable:
    profile = table.profile
    return KnownTable(
        profile=profile.name,
        variant=table.variant,
        about=table.about,
        transfer=profile.layers.pd_split.transfer,
        cells=tuple(_cell(cell, profile, told, runs) for cell in table.cells),
    )


def _cell(cell: Cell, profile: Profile, told: PlansTold | None, runs: Iterable[Evidence]) -> KnownCell:
    asked = (profile.name, cell.arm.label, cell.method)
    mine = [run for run in runs if (run.profile, run.arm, run.method) == asked]
    engine = engine_name(profile)
    here, elsewhere = [run for run in mine if run.here], [run for run in mine if not run.here and run.steps]
    found = _of_run(here[-1] if here else elsewhere[0] if elsewhere else None)
    return KnownCell(
        arm=cell.arm.label,
        layers=cell.arm.layers,
        method=cell.method,
        connector=cell.connector,
        plan=cell.key,
        **(found or _of_rule(cell) or _of_verdict(told.verdicts.get(cell.key) if told else None, engine, told)),
    )


def _of_run(run: Evidence | None) -> Mapping[str, Any] | None:
    if run is None:
        return None
    about = {"run": run.run, "machine": run.machine, "steps": run.steps}
    if not run.steps:
        return {"status": "refused", "words": f"refused: {run.refused}", "said": run.refused, **about}
    if run.here:
        return {"status": "measured here", "words": "measured here", **about}
    whose = "a run that comes with the project" if run.shipped else "a run in this store"
    return {"status": "measured elsewhere", "words": f"measured on {run.machine} ({whose})", **about}


def _of_rule(cell: Cell) -> Mapping[str, Any] | None:
    """Where labkit makes no plan: a rule of the engine, told by labkit and not by the engine."""
    said = f"labkit makes no plan of it, by a rule of the engine: {cell.refused}"
    return {"status": "refused", "words": f"refused: {said}", "said": said} if cell.refused else None


def _of_verdict(verdict: Verdict | None, engine: str, told: PlansTold | None) -> Mapping[str, Any]:
    if verdict is None:
        return {"status": "not tried", "words": "not tried", "said": STALE if told else f"no {engine} was asked"}
    if verdict.status == "accepted":
        return {"status": "accepted", "words": f"accepted by {engine}'s parser", "reached": verdict.reached}
    about = {"said": verdict.said, "reached": verdict.reached}
    if verdict.status == "refused":
        return {"status": "refused", "words": f"refused: {verdict.said}", **about}
    return {"status": "not tried", "words": "not tried", **about}
