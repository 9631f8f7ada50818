"""Task success: what agents got done, judged by hidden checks. Failed and truncated attempts count, too."""

from __future__ import annotations

from typing import Any

from labkit.analysis.confirmation import confirmation, in_words
from labkit.analysis.format import percent, seconds
from labkit.analysis.outcomes import NEVER_RAN, solved
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.report.blocks import Block, Code, Grid, Heading, More, Words
from labkit.experiments.report.english import records, sentence
from labkit.experiments.report.material import Material

_ARMS = ("arm", "tasks", "solved", "share", "time per attempt", "time per solved task", "cut short")
_ATTEMPTS = ("arm", "task", "attempt", "", "stopped because", "steps", "time")
_NOTE = "Time per solved task: all time that was spent, failed attempts included, over the attempts that were solved."
_STOPPED = {
    "finished": "the agent said that it was done",
    "steps": "the limit of steps was reached",
    "tokens": "the limit of prompt tokens was reached",
    "seconds": "the limit of seconds was reached",
    "error": "a request failed",
    NEVER_RAN: "the arm had been given up",
}


def success(material: Material) -> tuple[Block, ...]:
    """Arms, then attempts one by one; nothing in a replay, which solves nothing anew."""
    told = list(material.told("outcome"))
    if not told:
        return ()
    rows = records(solved(material.outcomes))
    arms = [Grid(_ARMS, tuple(map(_arm, rows)), "Attempts, judged by the hidden checks", _NOTE)] if rows else []
    each = [Grid(_ATTEMPTS, tuple(map(_attempt, records(material.outcomes))), words=(0, 1, 3, 4))] if rows else []
    verdict = confirmed(material)
    return (
        Heading("Task success"),
        *([Words(sentence(verdict))] if verdict else []),
        *arms,
        *each,
        *(block for event in told for block in _said(event)),
    )


def confirmed(material: Material) -> str:
    """The verdict of a run that was made to confirm an arm, without a full stop; empty for others."""
    if material.info.experiment != "confirm":
        return ""
    asked = ConfirmAsked.from_dict(material.info.asked)
    found = confirmation(material.outcomes, asked.against, asked.arm, asked.margin)
    return in_words(found, asked.against, asked.arm, material.outcomes)


def _arm(row: dict[str, Any]) -> tuple[str, ...]:
    tried = f"{row['n_solved']} of {row['n_attempts']}"
    times = (seconds(row["attempt_s"]), seconds(row["solved_s"]))
    return (row["arm"], str(row["n_tasks"]), tried, percent(row["success_rate"]), *times, str(row["n_cut"]))


def _attempt(row: dict[str, Any]) -> tuple[str, ...]:
    verdict = "solved" if row["reached"] else "not solved"
    why = _STOPPED.get(row["stop_reason"], row["stop_reason"])
    return (row["arm"], row["task"], str(row["attempt"] + 1), verdict, why, str(row["steps"]), seconds(row["seconds"]))


def _said(event: dict[str, Any]) -> list[Block]:
    """What the agent answered and what the check said, folded away."""
    of = " ".join(filter(None, (event.get("arm"), event.get("task"))))
    texts = (("the agent answered", "answer"), ("the check said", "check_output"), ("went wrong", "error"))
    return [
        More(f"What {title}{f' ({of})' if of else ''}", (Code(str(event[name])),))
        for title, name in texts
        if event.get(name)
    ]
