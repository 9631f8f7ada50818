"""What can be set on the fake engine. Everything that it reports follows from these and from the requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from labkit.core.errors import BadInput

FaultKind = Literal["http", "die_mid_stream", "hang", "error_in_stream", "no_finish"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How requests fail. `after_chunks`: chunks sent before it strikes; 0 strikes before the first one.

    `http`: answer `status`; `die_mid_stream`: abort the connection; `hang`: send nothing more; `error_in_stream`: an
    error event; `no_finish`: end the stream in good order, but without finish_reason, usage and [DONE].
    """

    kind: FaultKind
    after_chunks: int = 2
    status: int = 500
    message: str = "the fault dial is on"
    every: int = 1
    """Strikes each `every`-th request: 1 all, 2 the second, the fourth..."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(FaultKind):
            raise BadInput("kind", self.kind, ", ".join(get_args(FaultKind)))

    def strikes(self, ordinal: int) -> bool:
        """Whether the request of this number (from 1) fails."""
        return ordinal % self.every == 0


@dataclass(frozen=True, kw_only=True)
class FakeReply:
    """One scripted reply. `tool_calls`: (name, argument string) pairs."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class FakeDials:
    """Times in seconds, sizes in tokens.

    Prefill takes `ttft_s` + `prefill_s_per_token` for each prompt token that is not cached (+ `transfer_s`); each
    decode step then takes `itl_s`. A step makes one token, or 1 + accepted under speculation.
    """

    model: str = "fake"
    ttft_s: float = 0.0
    prefill_s_per_token: float = 0.0
    itl_s: float = 0.0
    stream_interval: int = 1
    """Tokens that are gathered before an event is sent, as vLLM's flag of that name; the first goes out at once."""
    held_tokens: int = 0
    """First tokens of a reply whose text comes with the next one's, as vLLM's parser holds a tool's name back."""
    block_size: int = 16
    num_blocks: int = 4096
    prefix_caching: bool = True
    num_spec_tokens: int = 0
    """Draft tokens per decode step; 0: no speculation."""
    acceptance: tuple[int, ...] = (0,)
    """Draft tokens accepted in decode step 1, 2...; starts anew with each request and repeats."""
    transfer_s: float | None = None
    """Set: a decode instance that gets what it has not cached from a prefill instance, in this time."""
    kv_bytes_per_token: int = 1024
    forgets_reasoning: bool = False
    """The chat template rewrites history, as Qwen3's does: earlier replies lose their reasoning."""
    max_model_len: int = 8192
    max_num_seqs: int = 256
    """Requests that run at once; the others wait in the queue."""
    serial_prefill: bool = False
    """As an engine that never mixes prefill and decode: one prefill at a time, first come first served, and no decode
    step begins while one runs or waits before it."""
    reply_tokens: int = 16
    """Length of an unscripted reply, unless max_tokens is smaller or ignore_eos is set."""
    replies: tuple[FakeReply, ...] = ()
    """Scripted replies in order of arrival; when they have run out, the engine answers HTTP 500."""
    fault: Fault | None = None
    start_s: float = 0.0
    """The port opens this late."""

    def __post_init__(self) -> None:
        if not all(0 <= accepted <= self.num_spec_tokens for accepted in self.acceptance) or not self.acceptance:
            raise BadInput("acceptance", self.acceptance, f"one or more of 0 to num_spec_tokens={self.num_spec_tokens}")
        for name in ("stream_interval", "block_size", "num_blocks", "max_num_seqs", "reply_tokens"):
            if getattr(self, name) < 1:
                raise BadInput(name, getattr(self, name), "1 or more")
