"""The fleet as the Engines page shows it: one record per engine, with who holds it, what it takes, and who may end it.

`fleet_view` looks; the records stand in `engine_cards.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from labkit.core.arms import ARMS
from labkit.core.clock import Clock, SystemClock
from labkit.engines.fleet import Fleet
from labkit.engines.plan_records import Plan
from labkit.engines.process import is_alive
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine
from labkit.experiments import ending, warm
from labkit.experiments.dashboard.engines.cards import EngineCard, FleetView, Pending, ProcessLine, Refused, State
from labkit.experiments.dashboard.engines.load import NOTHING, Loads, ProcessLoad
from labkit.experiments.dashboard.engines.logs import ago
from labkit.experiments.dashboard.engines.owner import run_named, run_started_by
from labkit.experiments.fleet_provider import FleetProvider


def fleet_view(fleet: Fleet, profiles: Sequence[str], loads: Loads, clock: Clock | None = None) -> FleetView:
    """The fleet now. `profiles`: those whose starts are followed. Raises UnknownName."""
    engines, now = fleet.ps(), (clock or SystemClock()).wall()
    seen = loads.read(process for engine in engines for process in engine.processes)
    plans = {profile: _plans(fleet, profile) for profile in profiles}
    serves = {key: _shared(same) for by_key in plans.values() for key, same in by_key.items()}
    there = {engine.plan.key for engine in engines if engine.status in ("starting", "up")}
    absent = [
        (profile, same[0]) for profile, by_key in plans.items() for key, same in by_key.items() if key not in there
    ]
    return FleetView(
        cards=tuple(_card(fleet, engine, seen, serves.get(engine.plan.key, ""), now) for engine in engines),
        pending=tuple(_pending(fleet, *each) for each in absent if warm.is_starting(each[1].key)),
        refused=tuple(_refused(*each, now) for each in absent if warm.failure(each[1].key)),
    )


def _card(fleet: Fleet, engine: Engine, loads: Mapping[int, ProcessLoad], serves: str, now: datetime) -> EngineCard:
    started = min((process.created for process in engine.processes), default=engine.owner.created)
    age_s, holder = max(0.0, now.timestamp() - started), fleet.holder(engine)
    expected_s = fleet.expected_s(engine.plan)
    state = _state(fleet, engine, holder)
    return EngineCard(
        id=engine.id,
        arm=engine.plan.arm,
        profile=engine.plan.profile,
        method=engine.plan.method,
        state=state,
        words=_words(engine, state, holder, age_s, expected_s),
        since=datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        age_s=age_s,
        address=f"{engine.base_url}/v1",
        model=engine.model,
        holder=holder,
        holder_run=run_named(holder),
        serves=serves,
        processes=tuple(_line(engine, n, loads) for n in range(len(engine.processes))),
        share=min(1.0, age_s / expected_s) if state == "starting" else None,
        kept=f"{holder} holds it: stop that run first." if holder else "",
        trouble=ending.failure(engine.id),
    )


def _line(engine: Engine, index: int, loads: Mapping[int, ProcessLoad]) -> ProcessLine:
    process = engine.processes[index]
    alive = is_alive(process)
    load = loads.get(process.pid, NOTHING) if alive else NOTHING  # one that nobody has reaped yet reads as 0 bytes
    return ProcessLine(
        role=process.role, pid=process.pid, port=process.port, alive=alive, cores=load.cores, rss=load.rss
    )


def _state(fleet: Fleet, engine: Engine, holder: str | None) -> State:
    status = engine.status
    if ending.is_ending(engine.id):
        return "ending"
    if status != "up":
        return status
    if fleet.left(engine):
        return "left"
    return "held" if holder else "up"


def _words(engine: Engine, state: State, holder: str | None, age_s: float, expected_s: float) -> str:
    """What became of it, and who may do something about it."""
    if state == "starting":
        late = ", far longer than usual here" if age_s > 2 * expected_s else ""
        return f"starting ({age_s:.0f} s of ~{expected_s:.0f} s{late})"
    if state == "left":
        run = run_started_by(engine.owner)
        who = f"run {run}" if run else "whoever started it"
        rest = f"{holder} uses it now" if holder else "nobody uses it, and anybody may end it"
        return f"up, but {who} is gone: {rest}"
    if state == "dead":
        ended = ", ".join(engine.dead_roles)
        return f"dead: {ended} ended; its log says why" if ended else "dead: it never came up"
    return {
        "up": "up and free",
        "held": f"up, held by {holder}",
        "ending": "ending: its processes get 8 s to stop",
        "orphaned": "whoever was starting it is gone; its processes still run",
    }[state]


def _plans(fleet: Fleet, profile: str) -> dict[str, list[Plan]]:
    """The engines of a profile by key, each with the plans of the arms that a run would send there."""
    provider = FleetProvider(fleet, load_profile(profile))
    plans: dict[str, list[Plan]] = {}
    for plan in map(provider.plan, ARMS):
        plans.setdefault(plan.key, []).append(plan)
    return plans


def _shared(plans: Sequence[Plan]) -> str:
    arms = [plan.arm for plan in plans]
    if len(arms) == 1:
        return f"serves {arms[0]}"
    without = [plan.arm for plan in plans if plan.salted]
    return f"serves {' and '.join(arms)}: {', '.join(without)} by a fresh cache_salt on every request"


def _pending(fleet: Fleet, profile: str, plan: Plan) -> Pending:
    words = f"starting (of ~{fleet.expected_s(plan):.0f} s): its process has yet to begin"
    return Pending(profile=profile, arm=plan.arm, words=words)


def _refused(profile: str, plan: Plan, now: datetime) -> Refused:
    said = ago(now.timestamp() - _printed(plan.key, now))
    return Refused(profile=profile, arm=plan.arm, words=warm.failure(plan.key), ago=said)


def _printed(key: str, now: datetime) -> float:
    """When the start printed last, seconds since the epoch; now when somebody has just begun another."""
    try:
        return warm.log_of_key(key).stat().st_mtime
    except FileNotFoundError:
        return now.timestamp()
