"""Run folders under load and with judged attempts, whose capacity and cost can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from builders import a_step, chunks_at
from synthetic import chunks, step

from labkit.analysis.concurrency import WindowRow
from labkit.core.conditions import of_agents
from labkit.core.records import RunState
from labkit.store.runs import RunStore

Levels = Mapping[int, tuple[int, int]]
"""Agents at once to (requests in time, requests sent)."""
SLOW_S, QUICK_S = 2.0, 0.5


def under_load(arms: Mapping[str, Levels], experiment: str = "capacity", **asked: object) -> str:
    """One window of ten seconds for each arm and level; a request in time has its first token after half a second,
    another after two. Every reply has three chunks 0.1 s apart, and ten tokens. Its id."""
    what = {"profile": "cpu-smollm2", "arms": list(arms), **asked}
    with RunStore().create(experiment, what, {}) as writer:
        for arm, levels in arms.items():
            for agents, (kept, sent) in levels.items():
                for n in range(sent):
                    first = 1.0 + (QUICK_S if n < kept else SLOW_S)
                    made = a_step(
                        writer.id, arm=arm, condition=of_agents(agents), agent=str(n % agents), turn=n + 1,
                        t_first_token=first, t_last=first + 0.2, t_end=first + 0.2, completion_tokens=11,
                        prompt_tokens=100, cached_tokens=0, recording="tiny",
                    )  # fmt: skip
                    writer.step(made, chunks_at(made, first, first + 0.1, first + 0.2))
                window = WindowRow(
                    arm=arm, condition=of_agents(agents), repeat=0, agents=agents, start=0.0, end=10.0, close=10.0,
                    sent=sent, cut=0, gaps=False,
                )  # fmt: skip
                writer.event("window", **window.to_dict())
    return writer.id


def judged(reached: Callable[[str, int], bool], state: RunState | None = "done", attempts: int = 3) -> str:
    """Attempts of base and prefix+spec at one task, each of two steps; which were solved is said by arm and attempt.

    `state` None: the run still goes on, since nobody closed it. Its id.
    """
    asked = {"profile": "cpu-smollm2", "arm": "prefix+spec", "against": "base", "attempts": attempts, "margin": 0.1}
    writer = RunStore().create("confirm", asked, {})
    t = 0.0
    for attempt in range(attempts):
        for arm in ("base", "prefix+spec"):
            began = t
            for turn in (1, 2):
                made = step(arm, turn, repeat=attempt, t=t, run=writer.id, task="count", agent="0", history="live")
                writer.step(made, chunks(made))
                t = made.t_end or t
            facts = {"reached": reached(arm, attempt), "stop_reason": "finished", "steps": 2, "seconds": t - began}
            writer.event("outcome", arm=arm, task="count", attempt=attempt, **facts)
            t += 1.0
    if state is not None:
        writer.finish(state, "")
    return writer.id
