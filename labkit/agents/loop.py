"""The loop: plan, act, observe, evaluate, answer.

Every request extends the one before: messages are only ever appended, and nothing in them tells the time. That is what
a prefix cache lives on, and what makes a run replayable.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from labkit.agents.prompts import asking, opening
from labkit.agents.requests import RequestBuilder
from labkit.agents.steps import Limits, OnStep, Outcome, Step, StopReason, ToolUse, nobody
from labkit.agents.tools import Toolbox
from labkit.core.chat import Message, Model, Reply
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import RequestFailed, ToolError
from labkit.core.records import Kind

LONG_RESULT_CHARS = 1500
"""A file this long is worth a thought; a shorter one is not worth the call."""
CHARS_PER_TOKEN = 3
"""On the safe side for code and English."""


@dataclass
class Loop:
    """One agent at one goal. `on_step` is called after every step, failed ones included."""

    goal: str
    model: Model
    toolbox: Toolbox
    limits: Limits = field(default_factory=Limits)
    requests: RequestBuilder = field(default_factory=RequestBuilder)
    on_step: OnStep = nobody
    clock: Clock = field(default_factory=SystemClock)

    async def run(self) -> Outcome:
        """Work until the model finishes or a limit is met, then ask for the answer."""
        self._start()
        stop: StopReason | None = None
        kind: Kind = "plan"
        try:
            while stop is None:
                step = await self._step(kind)
                kind = next_kind(step)
                stop = "finished" if kind == "answer" else self._limit_met()
            answer = await self._step("answer")
        except RequestFailed as error:
            return self._outcome("error", error=error.message)
        return self._outcome(stop, answer=str(answer.reply.message.get("content") or "") if answer.reply else "")

    def _start(self) -> None:
        self._messages: list[Message] = []
        self._pending = opening(self.goal)
        self._turn, self._used, self._started = 0, 0, self.clock.now()
        self._last_end = self._started

    def _limit_met(self) -> StopReason | None:
        if self._turn + 1 >= self.limits.steps:
            return "steps"
        if self._used + estimate(self._pending) > self.limits.tokens:
            return "tokens"
        return "seconds" if self.clock.now() - self._started > self.limits.seconds else None

    async def _step(self, kind: Kind) -> Step:
        """Ask, run the tool that was asked for, queue its result for the next request."""
        append = self._pending if self._turn == 0 else [*self._pending, *self._ask(kind)]
        self._messages, self._turn = self._messages + append, self._turn + 1
        request = self.requests.build(kind, self._messages, self.toolbox.offers())
        now = self.clock.now()
        told: dict[str, Any] = {"turn": self._turn, "kind": kind, "append": append, "request": request}
        told |= {"t_send": now, "gap_s": now - self._last_end}
        try:
            reply = await self.model.chat(request)
        except RequestFailed as error:
            self.on_step(Step(**told, t_end=self.clock.now(), error=error.message))
            raise
        self._messages, self._pending, self._last_end = [*self._messages, reply.message], [], reply.t_end
        self._used = _tokens_of(reply) or estimate(self._messages)
        step = Step(**told, t_end=reply.t_end, reply=reply, tool=await self._use_tools(reply))
        self.on_step(step)
        return step

    def _ask(self, kind: Kind) -> list[Message]:
        """After a tool's result the next act needs no words; every other step is asked for."""
        follows_result = bool(self._pending) and self._pending[-1]["role"] == "tool"
        return [] if kind == "act" and follows_result else [asking(kind)]

    async def _use_tools(self, reply: Reply) -> ToolUse | None:
        """Run the first call; a second one in the same step is answered, not run."""
        calls = reply.message.get("tool_calls") or []
        if not calls:
            return None
        use = await asyncio.to_thread(self._use, calls[0]["function"])
        self._answer_call(calls[0], use.result)
        for call in calls[1:]:
            self._answer_call(call, "Not done: one call in a step.")
        return use

    def _use(self, function: dict[str, str]) -> ToolUse:
        started, arguments = self.clock.now(), _arguments(function.get("arguments") or "{}")
        try:
            result, ok = self.toolbox.use(function["name"], arguments), True
        except ToolError as error:
            result, ok = f"Error: {error.message}", False
        room = max(200, (self.limits.tokens - self._used) * CHARS_PER_TOKEN)
        return ToolUse(
            name=function["name"], arguments=arguments, result=result[:room], ok=ok, seconds=self.clock.now() - started
        )

    def _answer_call(self, call: dict[str, Any], result: str) -> None:
        self._pending.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    def _outcome(self, stop: StopReason, *, answer: str = "", error: str | None = None) -> Outcome:
        return Outcome(
            stop_reason=stop, steps=self._turn, seconds=self.clock.now() - self._started, answer=answer,
            isolation=self.toolbox.isolation, error=error,
        )  # fmt: skip


def next_kind(step: Step) -> Kind:
    """The fixed policy: judge a test run, think about a search or a long result, answer at the end; otherwise act."""
    tool = step.tool
    if step.kind != "act" or tool is None or not tool.ok:
        return "act"
    if tool.name == "finish":
        return "answer"
    if tool.name == "run_tests":
        return "evaluate"
    return "observe" if tool.name == "search_code" or len(tool.result) > LONG_RESULT_CHARS else "act"


def estimate(messages: list[Message]) -> int:
    """How many tokens these messages may add to a prompt; rather too many than too few."""
    return sum(len(json.dumps(message, ensure_ascii=False)) for message in messages) // CHARS_PER_TOKEN


def _tokens_of(reply: Reply) -> int | None:
    usage = reply.usage
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


def _arguments(text: str) -> dict[str, Any]:
    """The call's arguments; what is no JSON object is passed on by the name `arguments`, for the tool to refuse."""
    try:
        arguments = json.loads(text)
    except json.JSONDecodeError:
        arguments = text
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}
