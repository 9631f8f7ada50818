"""Small recordings of several tasks, and factorials over them on engines with known answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labkit.core.chat import Usage
from labkit.experiments.factorial import FactorialAsked
from labkit.experiments.runner import run_design
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

BLOCK = 16


def recording(name: str, steps: int = 3) -> Recording:
    """Prompts of about 100 tokens and 40 more a step, as the fake counts; its name is in every first message."""
    made = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"{name} {turn:04d} " * (40 if turn == 1 else 15)}],
            reply={"role": "assistant", "content": "abcd" * 5},
            request={"max_tokens": 5, "ignore_eos": True},
            usage=Usage(completion_tokens=5),
        )
        for turn in range(1, steps + 1)
    )
    header = RecordingHeader(name=name, task=f"task-{name}", decided_by="scripted", model="fake", tools=[])
    return Recording(header=header, steps=made)


def saved(folder: Path, *names: str, steps: int = 3) -> tuple[str, ...]:
    """Files of such recordings."""
    return tuple(str(save(recording(name, steps), folder / f"{name}.jsonl")) for name in names)


def asked(recordings: tuple[str, ...], *arms: str, **more: object) -> FactorialAsked:
    params = {"steps": 0, "repeats": 1, "seed": 1, "drift_check": False, **more}
    return FactorialAsked(profile="cpu-smollm2", recordings=recordings, arms=arms, **params)


def static(urls: Mapping[str, str]) -> StaticProvider:
    return StaticProvider(urls, "fake", BLOCK)


async def run(question: FactorialAsked, provider: StaticProvider, root: Path, **more: object) -> Run:
    return await run_design("factorial", question, question.design(), provider, store=RunStore(root), **more)


def measured(run: Run):
    """The rows that count."""
    steps = run.steps()
    return steps[~steps["warmup"]].reset_index(drop=True)


def of(run: Run, kind: str) -> list[dict]:
    """The run's events of one type."""
    return [event for event in run.events() if event["type"] == kind]
