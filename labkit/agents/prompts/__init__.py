"""What the agent is told: one text for the system, one for each kind of step. Edited as Markdown, read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from labkit.core.chat import Message
from labkit.core.records import KINDS, Kind


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md` without its last line break."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


def opening(goal: str) -> list[Message]:
    """The first two messages: the role, then the goal with the request for a plan."""
    return [
        {"role": "system", "content": prompt("system")},
        {"role": "user", "content": f"{goal.strip()}\n\n{prompt('plan')}"},
    ]


def asking(kind: Kind) -> Message:
    """The user's message that asks for a step of this kind."""
    return {"role": "user", "content": prompt(kind)}


def kind_asked(messages: list[Message]) -> Kind:
    """Which kind of step the last message asks for; a tool's result asks for the next act."""
    last = messages[-1]
    text = str(last.get("content") or "") if last["role"] == "user" else ""
    return next((kind for kind in KINDS if text.endswith(prompt(kind))), "act")
