"""One step of a live agent as what is kept of it: a line of the recording, and a row of the run's tables."""

from __future__ import annotations

import dataclasses

from labkit.agents.scripted import Count
from labkit.agents.steps import Step
from labkit.core.chat import ChatRequest, Message, Usage
from labkit.experiments.ceilings import Tokenizer
from labkit.traffic.recording import RecordedStep, request_options
from labkit.traffic.replay import Replayed


def recorded(step: Step) -> RecordedStep:
    """The step as a recording keeps it. A step that failed has an empty reply."""
    reply, tool = step.reply, step.tool
    return RecordedStep(
        turn=step.turn,
        kind=step.kind,
        append=step.append,
        reply=reply.message if reply else {"role": "assistant", "content": ""},
        request=request_options(step.request),
        finish_reason=reply.finish_reason if reply else None,
        usage=reply.usage if reply else Usage(),
        tool_name=tool.name if tool else None,
        tool_s=tool.seconds if tool else None,
        tool_bytes=len(tool.result.encode()) if tool else None,
        gap_s=step.gap_s,
    )


def as_replayed(step: Step) -> Replayed:
    """The step in the shape that becomes rows: live, a request leaves when it is meant to."""
    return Replayed(
        step=recorded(step),
        request=step.request,
        reply=step.reply,
        error=step.error,
        t_intended=step.t_send,
        t_send=step.reply.t_send if step.reply else step.t_send,
        t_end=step.reply.t_end if step.reply else step.t_end,
    )


def counting(tokenizer: Tokenizer) -> Count:
    """Counts what a script says with an engine's tokenizer and chat template (ChatML)."""

    async def count(request: ChatRequest, message: Message) -> Usage:
        prompt = await tokenizer.tokenize(request)
        told = await tokenizer.tokenize(dataclasses.replace(request, messages=[*request.messages, message]))
        return Usage(prompt_tokens=len(prompt), completion_tokens=generated(prompt, told))

    return count


def generated(prompt: list[int], told: list[int]) -> int | None:
    """How many tokens a model would have generated to say what `told` holds beyond `prompt`, its end mark included.

    In ChatML a reply is followed by its end mark, a line break and the next opening, and the opening's first token is
    the prompt's first token, too. None: this is another template, and nobody knows.
    """
    beyond = told[len(prompt) :]
    if prompt[0] not in beyond:
        return None
    opening = len(beyond) - 1 - beyond[::-1].index(prompt[0])
    return opening - 1
