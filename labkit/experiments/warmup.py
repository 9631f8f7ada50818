"""The requests that are thrown away before an arm is measured: the same ones in every arm.

They must touch whatever is slow the first time (a drafter that compiles on its first draft, the handshake of prefill
and decode, the first long prefill) and nothing that the measured requests could profit from: other words under another
salt. The text repeats itself, so that an n-gram drafter drafts; it is longer than two KV blocks, so that a split engine
transfers.
"""

from __future__ import annotations

from labkit.core.chat import ChatRequest
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader

_LINE = "The quick brown fox jumps over the lazy dog, and the lazy dog sleeps. "
_TEXTS = (_LINE * 12, _LINE * 3)
_TOKENS = 12
TASK = "warmup"


def warmup() -> Recording:
    """Two unrelated requests of about 200 and 50 tokens as a recording of its own, task `warmup`."""
    header = RecordingHeader(name=TASK, task=TASK, decided_by="labkit", model="any", tools=[])
    return Recording(header=header, steps=tuple(_step(turn, text) for turn, text in enumerate(_TEXTS, 1)))


def _step(turn: int, text: str) -> RecordedStep:
    options = ChatRequest(messages=[], max_tokens=_TOKENS, ignore_eos=True).to_dict()
    return RecordedStep(
        turn=turn,
        kind="answer",
        append=[{"role": "user", "content": f"Repeat this, and nothing else: {text}"}],
        reply={"role": "assistant", "content": _LINE},
        request={key: value for key, value in options.items() if key not in ("messages", "tools", "cache_salt")},
    )
