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
    due: float | None = None,
) -> AsyncGenerator[Replayed, None]:
    """Yield each step once it ended. Raises BadInput before anything is sent when a pinned length is not known.

    `due`: reading of the clock at which the first request is to leave; each further one is due when the reply before it
    ended, plus the gap, and whatever makes it leave later is lag. None: a step is due when the caller asks for it, so
    that what the caller does between steps is not.
    """
    clock, replies, failures = clock or SystemClock(), list[Message](), 0
    if options.mode == "pinned":
        check_pinnable(recording, options.count(recording))
    for index, step in enumerate(recording.steps[: options.count(recording)]):
        history = replies if options.history == "live" else None
        request = shaped(recording.request(index, history), step, options.mode, salt.salt(step.turn))
        request = dataclasses.replace(request, session=salt.base)
        gap_s = step.gap_s if options.gaps else 0.0
        t_intended = (clock.now() if due is None else due) + gap_s
        if options.gaps or due is not None:
            await pause(gap_s if due is None else max(0.0, t_intended - clock.now()))
        done = await _send(model, step, request, t_intended, clock)
        replies.append(_next_history(done))
        failures = failures + 1 if done.error else 0
        yield done
        due = _next_due(done, clock) if due is not None else None
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


def _next_due(done: Replayed, clock: Clock) -> float:
    """After a failure the caller looks whether the engine lives: that is not lag."""
    return clock.now() if done.error else done.t_end


def _next_history(done: Replayed) -> Message:
    """What live history holds for this step; the recorded reply when there is none."""
    return live_reply(done.reply.message, done.step.reply) if done.reply else done.step.reply
