"""Send a recording's requests again, one after the other, as the agent did: each after the reply to the one before.

Closed loop, one agent: the next request never waits for a clock other than the recorded gaps (`gaps=True`), so the load
is what the agent made and nothing queues behind it. A failed request is a row like any other, with its error; the
replay goes on with the recorded reply in its place, until `max_failures` in a row say that nothing more will come.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, get_args

from labkit.core.chat import ChatRequest, Message, Model, Reply
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import BadInput, RequestFailed
from labkit.traffic.recording import RecordedStep, Recording
from labkit.traffic.salt import SaltPolicy
from labkit.traffic.shaping import Mode, check_pinnable, live_reply, shaped

History = Literal["recorded", "live"]
Pause = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """How a recording is replayed. Raises BadInput.

    `steps`: only the first so many (None: all). `history`: whose assistant text goes into the next turn. `mode`:
    natural or pinned (see `shaping`). `gaps`: sleep the recorded time between steps, tools included, or leave it out.
    """

    steps: int | None = None
    history: History = "recorded"
    mode: Mode = "natural"
    gaps: bool = False
    max_failures: int = 3

    def __post_init__(self) -> None:
        for field, value, allowed in (("history", self.history, History), ("mode", self.mode, Mode)):
            if value not in get_args(allowed):
                raise BadInput(field, value, " or ".join(get_args(allowed)))
        if self.steps is not None and self.steps < 1:
            raise BadInput("steps", self.steps, "1 or more")

    def count(self, recording: Recording) -> int:
        """How many steps of this recording are sent."""
        return min(self.steps or len(recording.steps), len(recording.steps))


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """One recorded step as it went this time: a reply or an error. Times are readings of the clock, in seconds.

    `t_intended`: when the request should have left (after the gap); `t_send`: when it did. `partial`: what had arrived
    of a reply that broke off.
    """

    step: RecordedStep
    request: ChatRequest
    reply: Reply | None
    error: str | None
    partial: Reply | None = None
    t_intended: float
    t_send: float
    t_end: float


async def replay(
    recording: Recording,
    model: Model,
    options: ReplayOptions,
    salt: SaltPolicy,
    *,
    clock: Clock | None = None,
    pause: Pause = asyncio.sleep,
) -> AsyncGenerator[Replayed, None]:
    """Yield each step once it ended. Raises BadInput before anything is sent when a pinned length is not known."""
    clock, replies, failures = clock or SystemClock(), list[Message](), 0
    if options.mode == "pinned":
        check_pinnable(recording, options.count(recording))
    for index, step in enumerate(recording.steps[: options.count(recording)]):
        history = replies if options.history == "live" else None
        request = shaped(recording.request(index, history), step, options.mode, salt.salt(step.turn))
        request = dataclasses.replace(request, session=salt.base)
        t_intended = clock.now()
        if options.gaps:
            t_intended += step.gap_s
            await pause(step.gap_s)
        done = await _send(model, step, request, t_intended, clock)
        replies.append(_next_history(done))
        failures = failures + 1 if done.error else 0
        yield done
        if failures >= options.max_failures:
            return


async def _send(model: Model, step: RecordedStep, request: ChatRequest, t_intended: float, clock: Clock) -> Replayed:
    t_send, reply, error, partial = clock.now(), None, None, None
    try:
        reply = await model.chat(request)
    except RequestFailed as failure:
        error, partial = failure.message, failure.partial
    return Replayed(
        step=step,
        request=request,
        reply=reply,
        error=error,
        partial=partial,
        t_intended=t_intended,
        t_send=reply.t_send if reply else t_send,
        t_end=reply.t_end if reply else clock.now(),
    )


def _next_history(done: Replayed) -> Message:
    """What live history holds for this step; the recorded reply when there is none."""
    return live_reply(done.reply.message, done.step.reply) if done.reply else done.step.reply
