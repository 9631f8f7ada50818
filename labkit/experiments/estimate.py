"""How long a design will take, said before it starts: from what earlier runs on this machine took, else from guesses.

Three parts: the engine starts, as the fleet has learned them; a warm-up for each block; and every step that is left, at
the mean time of its arm (from send to the next send, so that what the lab itself does in between is in it). An arm that
was never measured here takes the mean of those that were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from labkit.experiments.attached.kept import attached_engines
from labkit.experiments.design import Design, Pass
from labkit.experiments.forecast import GUESS_STEP_S
from labkit.store.frames import query
from labkit.store.runs import Run, RunStore

_WARM_UP_GUESS_S = 6.0
_RUNS = 20
"""Only so many of the newest runs are looked at."""
_ONE_AGENT = ("quick", "replay", "factorial")
_STEPS = """
with sent as (
    select arm, cache, turn, error,
           coalesce(lead(t_send) over in_pass - t_send, t_end - t_send) as seconds
    from steps where not warmup and list_contains($runs, run)
    window in_pass as (partition by run, arm, repeat, recording, agent, condition, cache order by t_send)
)
select arm, cache, avg(seconds) as seconds, count(*) as n from sent
where error is null and turn <= $turns and seconds > 0 group by arm, cache
"""
_WARM_UPS = """
with sent as (
    select run, arm, repeat, t_send, t_end, count(*) filter (turn = 1) over (
        partition by run, arm, repeat order by t_send, turn rows unbounded preceding
    ) as nth
    from steps where warmup and task = 'warmup' and list_contains($runs, run)
),
each as (
    select run, arm, max(t_end) - min(t_send) as seconds, count(*) as n from sent group by run, arm, repeat, nth
)
select arm, avg(seconds) as seconds from (select *, max(n) over (partition by run, arm) as whole from each)
where n = whole and seconds > 0 group by arm
"""
"""A block that was resumed has warmed up twice, the break in between; a warm-up that was cut short tells nothing."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """What steps took here: mean seconds by (arm, cache), of a warm-up by arm, and from how many steps (0: guesses)."""

    step_s: Mapping[tuple[str, str], float] = field(default_factory=dict)
    warm_up_s: Mapping[str, float] = field(default_factory=dict)
    n: int = 0

    def step(self, arm: str, cache: str) -> float:
        """Seconds of one step of this arm; of a warm pass that was never made, those of a cold one."""
        of_arm = [self.step_s[key] for key in ((arm, cache), (arm, "cold")) if key in self.step_s]
        known = of_arm[:1] or list(self.step_s.values())
        return fmean(known) if known else GUESS_STEP_S

    def warm_up(self, arm: str) -> float:
        """Seconds of one block's warm-up."""
        known = [self.warm_up_s[arm]] if arm in self.warm_up_s else list(self.warm_up_s.values())
        return fmean(known) if known else _WARM_UP_GUESS_S


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Seconds in all and of each part; `n_past`: steps of earlier runs that it rests on, 0 for a guess."""

    starts_s: float
    warm_ups_s: float
    steps_s: float
    n_steps: int
    n_blocks: int
    n_past: int

    @property
    def total_s(self) -> float:
        return self.starts_s + self.warm_ups_s + self.steps_s

    def in_words(self) -> str:
        """`324 steps in 9 blocks, about 24 min (3 min of it engine starts; from 512 steps measured here before)`."""
        source = (
            f"from {self.n_past} steps measured here before" if self.n_past else "a guess: nothing measured here yet"
        )
        starts = f"{_minutes(self.starts_s)} of it engine starts; " if self.starts_s else ""
        return f"{self.n_steps} steps in {self.n_blocks} blocks, about {_minutes(self.total_s)} ({starts}{source})"


def estimate(design: Design, starts: Sequence[float], past: Past | None = None) -> Estimate:
    """What is left of the design. `starts`: seconds of the engine start before each block."""
    past = past or Past()
    left = {number: passes for number in range(len(design.blocks)) if (passes := design.left(number))}
    arms = {number: design.blocks[number].arm.label for number in left}
    return Estimate(
        starts_s=sum(starts[number] for number in left),
        warm_ups_s=sum(past.warm_up(arms[number]) for number in left),
        steps_s=sum(_pass_s(each, past, arms[number]) for number, passes in left.items() for _, each in passes),
        n_steps=sum(design.count(number) for number in left),
        n_blocks=len(left),
        n_past=past.n,
    )


def past(store: RunStore, profile: str, fingerprint: Mapping[str, Any], turns: int) -> Past:
    """From the newest runs of this profile on this processor; only steps up to `turns`, since prompts grow.

    Engines that were attached are their own machines: only runs on the very same ones tell anything of them, and they
    tell nothing of the fleet's.
    """
    alike = [run.id for run in store.runs()[: _RUNS * 5] if _alike(run, profile, fingerprint)][:_RUNS]
    if not alike:
        return Past()
    steps = query(store, _STEPS, {"runs": alike, "turns": turns})
    warm_ups = query(store, _WARM_UPS, {"runs": alike})
    return Past(
        step_s={(arm, cache): float(seconds) for arm, cache, seconds, _ in steps.itertuples(index=False)},
        warm_up_s={arm: float(seconds) for arm, seconds in warm_ups.itertuples(index=False)},
        n=int(steps["n"].sum()),
    )


def _alike(run: Run, profile: str, fingerprint: Mapping[str, Any]) -> bool:
    """Runs that waited for recorded gaps, or put several agents on the engine, tell nothing of a step's own time."""
    info = run.info
    same = info.asked.get("profile") == profile and _machine(info.fingerprint) == _machine(fingerprint)
    same = same and _attached(info.fingerprint) == _attached(fingerprint)
    return same and info.experiment in _ONE_AGENT and not info.asked.get("gaps")


def _machine(fingerprint: Mapping[str, Any]) -> tuple[Any, ...]:
    cpu = fingerprint.get("cpu") or {}
    return cpu.get("model"), cpu.get("usable_threads"), fingerprint.get("memory_bytes")


def _attached(fingerprint: Mapping[str, Any]) -> set[tuple[Any, ...]]:
    return {(each.get("url"), each.get("model")) for each in attached_engines(fingerprint).values()}


def _pass_s(each: Pass, past: Past, arm: str) -> float:
    steps = each.recording.steps[: each.options.count(each.recording)]
    gaps = sum(step.gap_s for step in steps) if each.options.gaps else 0.0
    return each.count * past.step(arm, each.cache) + gaps


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
