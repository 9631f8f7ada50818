"""Whether the agent reached its goal: the outcome that a live run wrote down, judged by the task's hidden check."""

from __future__ import annotations

from labkit.analysis.format import DASH, seconds
from labkit.experiments.report.blocks import Block, Code, Heading, More, Pairs
from labkit.experiments.report.english import shown
from labkit.experiments.report.material import Event, Material

_STOPPED = {
    "finished": "the agent said that it was done",
    "steps": "the limit of steps was reached",
    "tokens": "the limit of prompt tokens was reached",
    "seconds": "the limit of seconds was reached",
    "error": "a request failed",
}


def outcomes(material: Material) -> list[Event]:
    """What live runs of agents came to, in order."""
    return list(material.told("outcome"))


def success(material: Material) -> tuple[Block, ...]:
    """The outcome of each agent of the run; nothing in a replay, which has none."""
    return tuple(block for outcome in outcomes(material) for block in _outcome(outcome))


def _outcome(outcome: Event) -> tuple[Block, ...]:
    facts = (
        ("hidden check", verdict(outcome.get("reached"))),
        ("stopped because", _STOPPED.get(outcome.get("stop_reason", ""), shown(outcome.get("stop_reason")))),
        ("steps", shown(outcome.get("steps"))),
        ("wall time", seconds(outcome.get("seconds"))),
        ("error", shown(outcome.get("error"))),
    )
    said = [("What the agent answered", outcome.get("answer")), ("What the check said", outcome.get("check_output"))]
    more = (More(title, (Code(str(text)),)) for title, text in said if text)
    return (Heading("Task success"), Pairs(tuple(fact for fact in facts if fact[1] != DASH)), *more)


def verdict(reached: bool | None) -> str:
    """Passed, failed, or never asked: in that case the task counts as not solved."""
    return "not asked, so not solved" if reached is None else "passed: solved" if reached else "failed: not solved"
