"""The records that cross rooms: one step, one chunk, one telemetry sample, one run.

Frozen, and self-describing through their columns. Times are monotonic seconds since the run's start (`t_*`) or plain
durations in seconds (`*_s`). Null means "not measured".
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, Self

from labkit.core.columns import column

SCHEMA = 2
Kind = Literal["plan", "act", "observe", "evaluate", "answer"]
KINDS: tuple[Kind, ...] = ("plan", "act", "observe", "evaluate", "answer")
Cache = Literal["cold", "warm"]
RunState = Literal["running", "done", "partial", "failed", "cancelled"]


class Record:
    """To and from plain dicts. Unknown keys are dropped on reading: a newer labkit may have written them."""

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        known = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        return cls(**{key: value for key, value in data.items() if key in known})


@dataclass(frozen=True, kw_only=True)
class StepRecord(Record):
    """One LLM call and the tool it asked for: the row that everything else is computed from."""

    run: str = column("string", "", "id of the run")
    arm: str = column("string", "", "label of the arm that served the step")
    task: str = column("string", "", "task or recording that the step belongs to; the cluster of the statistics")
    agent: str = column("string", "", "which agent of the run (several may run at once)")
    repeat: int = column("int64", "", "which pass over the recording, from 0")
    turn: int = column("int64", "", "position of the step in its task, from 1")
    kind: str = column("string", "", "plan, act, observe, evaluate or answer")
    recording: str = column("string", "", "recording that was replayed; empty in a live run", default="")
    condition: str = column(
        "string", "", "what the experiment varied besides the arm, such as `agents=4`; empty when nothing", default=""
    )
    cache: str = column(
        "string",
        "",
        "`cold`: no earlier pass left anything that this one could find; `warm`: the same pass was made just before",
        default="cold",
    )
    warmup: bool = column("bool", "", "true for steps that are thrown away")
    switched_by: str = column(
        "string", "", "how prefix caching was set: `flag` (server flag) or `salt` (fresh cache_salt)"
    )
    history: str = column("string", "", "`recorded` or `live` assistant text in the next turn")
    mode: str = column(
        "string", "", "`natural`: the engine's own text and stop; `pinned`: the recorded length", default="natural"
    )
    engine: str = column("string", "", "id of the engine in the fleet; `<node>/<id>` in a spread run")
    t_send: float = column("float64", "s", "request sent, since the run's start")
    t_first_token: float | None = column("float64", "s", "first event with any generated token", nullable=True)
    t_first_visible: float | None = column("float64", "s", "first event with content or a tool call", nullable=True)
    t_last: float | None = column("float64", "s", "last event that carried a token", nullable=True)
    t_end: float | None = column("float64", "s", "end of the response", nullable=True)
    prompt_tokens: int | None = column("int64", "tokens", "prompt length, from usage", nullable=True)
    retokenized_tokens: int | None = column(
        "int64", "tokens", "prompt length as the engine's tokenizer counts the same request when asked", nullable=True
    )
    cached_tokens: int | None = column("int64", "tokens", "prompt tokens served from the prefix cache", nullable=True)
    ceiling_tokens: int | None = column(
        "int64", "tokens", "most prompt tokens that an infinite cache of whole blocks could serve", nullable=True
    )
    reachable_tokens: int | None = column(
        "int64",
        "tokens",
        "of the ceiling, what the process that took the prompt had computed itself; the rest another process had",
        nullable=True,
    )
    shared_tokens: int | None = column(
        "int64", "tokens", "prompt tokens shared with anything seen before, not rounded to blocks", nullable=True
    )
    append_tokens: int | None = column(
        "int64", "tokens", "prompt tokens that would be shared had the history only been appended to", nullable=True
    )
    transferred_tokens: int | None = column(
        "int64", "tokens", "prompt tokens whose KV came from prefill", nullable=True
    )
    completion_tokens: int | None = column("int64", "tokens", "generated tokens, from usage", nullable=True)
    reasoning_tokens: int | None = column("int64", "tokens", "generated reasoning tokens, from usage", nullable=True)
    drafts: int | None = column("int64", "", "speculative verification rounds", nullable=True)
    drafted_tokens: int | None = column("int64", "tokens", "draft tokens proposed", nullable=True)
    accepted_tokens: int | None = column("int64", "tokens", "draft tokens accepted", nullable=True)
    server_s: float | None = column(
        "float64",
        "s",
        "in the engine's HTTP server, outside queue, prefill and decode: template, tokenizer, way to the core and back",
        nullable=True,
    )
    queue_s: float | None = column("float64", "s", "waiting to be scheduled, as the engine reports it", nullable=True)
    prefill_s: float | None = column(
        "float64", "s", "scheduled to first token, as the engine reports it", nullable=True
    )
    transfer_s: float | None = column("float64", "s", "KV transfer, as the engine reports it", nullable=True)
    decode_s: float | None = column("float64", "s", "first to last token, as the engine reports it", nullable=True)
    tool_name: str | None = column("string", "", "tool that the step asked for", nullable=True)
    tool_s: float | None = column("float64", "s", "time the tool took (recorded, when replayed)", nullable=True)
    tool_bytes: int | None = column("int64", "bytes", "size of the tool's result", nullable=True)
    send_lag_s: float | None = column("float64", "s", "actual send minus intended send", nullable=True)
    parse_s: float | None = column(
        "float64", "s", "time the client spent on parsing the events of the stream", nullable=True
    )
    finish_reason: str | None = column("string", "", "why generation stopped", nullable=True)
    text_sha256: str | None = column("string", "", "hash of the generated text, to compare arms", nullable=True)
    error: str | None = column("string", "", "what failed, in one line", nullable=True)


@dataclass(frozen=True, kw_only=True)
class ChunkRecord(Record):
    """One event of the stream. A chunk is not a token: under speculation it carries several."""

    run: str = column("string", "", "id of the run")
    arm: str = column("string", "", "label of the arm")
    task: str = column("string", "", "task or recording")
    agent: str = column("string", "", "agent")
    repeat: int = column("int64", "", "pass over the recording")
    turn: int = column("int64", "", "position of the step in its task")
    recording: str = column("string", "", "recording that was replayed; empty in a live run", default="")
    condition: str = column("string", "", "what the experiment varied besides the arm", default="")
    cache: str = column("string", "", "`cold` or `warm`, as the step's", default="cold")
    warmup: bool = column("bool", "", "true for steps that are thrown away")
    index: int = column("int64", "", "position in the stream, from 0")
    t: float = column("float64", "s", "arrival, since the run's start")
    kind: str = column("string", "", "content, reasoning, tool, or held (tokens whose text the parser keeps back)")
    chars: int = column("int64", "chars", "characters in the event")
    tokens: int | None = column("int64", "tokens", "tokens in the event, from its token ids", nullable=True)


@dataclass(frozen=True, kw_only=True)
class SampleRecord(Record):
    """One telemetry value at one time."""

    run: str = column("string", "", "id of the run")
    t: float = column("float64", "s", "when it was read, since the run's start")
    source: str = column(
        "string", "", "host, client, amdsmi, nvml, rapl or `<engine>/<role>`; a spread run: `<node>/` before it"
    )
    name: str = column("string", "", "metric name, as its source calls it")
    unit: str = column("string", "", "unit of the value")
    value: float | None = column("float64", "see unit", "the value; null when it could not be read", nullable=True)


@dataclass(frozen=True, kw_only=True)
class RunInfo(Record):
    """`run.json`: what was asked, on what, and how it ended."""

    id: str
    experiment: str
    created: str
    state: RunState
    asked: dict[str, Any]
    fingerprint: dict[str, Any]
    note: str = ""
    schema: int = SCHEMA
