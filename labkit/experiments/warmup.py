"""The requests that are thrown away before an arm is measured: the same ones in every arm.

They must touch whatever is slow the first time: a drafter that compiles on its first draft, the handshake of prefill
and decode, the first long prefill, and every grammar that the measured requests will ask for (an engine compiles one
once and keeps it, so the first of two arms on one engine would pay for both). And they must leave nothing that the
measured requests could profit from: other words under another salt. The text repeats itself, so that an n-gram drafter
drafts; it is longer than two KV blocks, so that a split engine transfers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from labkit.core.chat import ChatRequest
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader
from labkit.traffic.shaping import GRAMMAR_FIELDS

_LINE = "The quick brown fox jumps over the lazy dog, and the lazy dog sleeps. "
_TEXTS = (_LINE * 12, _LINE * 3)
_TOKENS = 12
TASK = "warmup"


def warmup(measured: Sequence[tuple[Recording, int]]) -> Recording:
    """Two requests of about 200 and 50 tokens beside the tools, then one per grammar of what will be measured.

    `measured`: recordings, at least one, and how many steps of each. The tools are those of the first.
    """
    free = [_options(_TOKENS, ignore_eos=True)] * len(_TEXTS)
    options = [*free, *_grammars(measured)]
    texts = [*_TEXTS, *[_LINE] * (len(options) - len(_TEXTS))]
    first = measured[0][0].header
    header = RecordingHeader(name=TASK, task=TASK, decided_by="labkit", model=first.model, tools=first.tools)
    steps = (_step(n, text, option) for n, (text, option) in enumerate(zip(texts, options, strict=True), 1))
    return Recording(header=header, steps=tuple(steps))


def _grammars(measured: Sequence[tuple[Recording, int]]) -> list[dict[str, Any]]:
    """Options of one request for each way in which the recorded ones constrain their output."""
    distinct = {}
    for step in (step for recording, count in measured for step in recording.steps[:count]):
        extra = {key: value for key, value in (step.request.get("extra") or {}).items() if key in GRAMMAR_FIELDS}
        choice = step.request.get("tool_choice")
        if extra or choice not in (None, "none", "auto"):
            options = _options(_TOKENS, tool_choice=choice, extra=extra)
            distinct[json.dumps(options, sort_keys=True)] = options
    return list(distinct.values())


def _options(max_tokens: int, **options: Any) -> dict[str, Any]:
    known = ChatRequest(messages=[], max_tokens=max_tokens, **options).to_dict()
    return {key: value for key, value in known.items() if key not in ("messages", "tools", "cache_salt")}


def _step(turn: int, text: str, options: dict[str, Any]) -> RecordedStep:
    return RecordedStep(
        turn=turn,
        kind="answer",
        append=[{"role": "user", "content": f"Repeat this, and nothing else: {text}"}],
        reply={"role": "assistant", "content": _LINE},
        request=options,
    )
