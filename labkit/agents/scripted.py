"""A model that plays a script: a known solution of a task, to prove the loop, the tools and the checks end to end.

It keeps no state: where it is in its script follows from the request, so a request answered twice is answered alike.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.agents.prompts import kind_asked
from labkit.core.chat import ChatRequest, Message, Reply, Usage
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import BadInput
from labkit.core.records import Kind

Count = Callable[[ChatRequest, Message], Awaitable[Usage]]
"""Counts the tokens of a request and its reply, with the tokenizer of the engine that will replay them."""


async def uncounted(_: ChatRequest, __: Message) -> Usage:
    """A script has no tokenizer: not measured."""
    return Usage()


@dataclass(frozen=True)
class Act:
    """One tool call, and what is said about its result when the loop asks."""

    tool: str
    arguments: dict[str, str]
    then: str = ""


@dataclass(frozen=True)
class Script:
    """A plan, the acts in order, an answer. An empty script finishes at once."""

    acts: tuple[Act, ...] = ()
    plan: str = "I will look at the files first."
    answer: str = "I am done."


@dataclass
class ScriptedModel:
    """Answers from a script. `count` fills `usage`. No token is generated, so no time of a token is told."""

    script: Script = field(default_factory=Script)
    count: Count = uncounted
    clock: Clock = field(default_factory=SystemClock)

    async def chat(self, request: ChatRequest) -> Reply:
        """The script's next line for the kind of step that the last message asks for."""
        started = self.clock.now()
        kind, done = kind_asked(request.messages), _acts_in(request.messages)
        message = self._act(done) if kind == "act" else {"role": "assistant", "content": self._text(kind, done)}
        usage = await self.count(request, message)
        return Reply(
            message=message, finish_reason="tool_calls" if kind == "act" else "stop", usage=usage, chunks=(),
            t_send=started, t_first_token=None, t_first_visible=None, t_last=None, t_end=self.clock.now(),
        )  # fmt: skip

    def _act(self, done: int) -> Message:
        acts = self.script.acts
        act = acts[done] if done < len(acts) else Act("finish", {"summary": "done"})
        function = {"name": act.tool, "arguments": json.dumps(act.arguments)}
        return {"role": "assistant", "content": None, "tool_calls": [_call(f"call-{done + 1}", function)]}

    def _text(self, kind: Kind, done: int) -> str:
        if kind in ("plan", "answer"):
            return self.script.plan if kind == "plan" else self.script.answer
        return (self.script.acts[done - 1].then if 0 < done <= len(self.script.acts) else "") or "I will go on."


def _call(identity: str, function: Mapping[str, str]) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": dict(function)}


def _acts_in(messages: list[Message]) -> int:
    return sum(bool(message.get("tool_calls")) for message in messages)


def load_script(path: Path) -> Script:
    """Read a `script.toml`: `plan`, `answer` and one `[[act]]` for each call. Raises BadInput."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
        acts = tuple(_read_act(act) for act in read.get("act", []))
        return Script(acts=acts, plan=read["plan"], answer=read["answer"])
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise BadInput(str(path.name), str(error), "plan, answer and [[act]] with tool and its arguments") from error


def _read_act(act: dict[str, str]) -> Act:
    return Act(
        act["tool"], {key: value for key, value in act.items() if key not in ("tool", "then")}, act.get("then", "")
    )
