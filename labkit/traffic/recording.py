"""The recording of one agent's run: the exact requests, replies, tool results and gaps, replayable under any arm.

A recording is a JSONL file: a header line, then one line a step. Messages are append-only, so a step keeps only what
was *added* before its request; request n is every `append` and `reply` before it, in order. What was sent otherwise the
second time, such as a system prompt with the time in it, is kept beside them as `rewritten`. Tools never change within
a recording (they sit at the front of the prompt) and are kept once, in the header.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from labkit.core.chat import ChatRequest, Message, Usage
from labkit.core.errors import BadInput
from labkit.core.names import pick
from labkit.core.paths import data_dir
from labkit.core.records import KINDS, Kind, Record

SCHEMA = 2
"""The newest that is read. 2: some step has `rewritten`, which who reads 1 alone would send as it was first sent."""
_LIST = "List the shipped ones with: labkit recordings"


@dataclass(frozen=True, kw_only=True)
class RecordingHeader(Record):
    """Where a recording comes from; null where it is not known.

    `decided_by`: who chose the actions and wrote the text: a model's name, or `scripted`. `reached`: whether the hidden
    check passed. `counted_by`: what counted the tokens in `usage`. `template_sha256`: the chat template of that count.
    """

    name: str
    task: str
    decided_by: str
    model: str
    tools: list[dict[str, Any]]
    stop_reason: str | None = None
    reached: bool | None = None
    counted_by: str | None = None
    template_sha256: str | None = None
    created: str | None = None
    note: str = ""
    schema: int = 1
    type: str = "recording"


@dataclass(frozen=True, kw_only=True)
class RecordedStep(Record):
    """One LLM call as it happened.

    `append`: messages added before the request. `request`: the ChatRequest's fields other than messages and tools.
    `tool_*`: the tool that the reply asked for, its seconds and result bytes; null when it asked for none.
    `gap_s`: end of the reply before to the send of this request, tools included; 0 for the first. `rewritten`: by
    position (from 0, as text) the messages that this request, and it alone, sent in place of those of the history.
    """

    turn: int
    kind: Kind
    append: list[Message]
    reply: Message
    request: dict[str, Any] = field(default_factory=dict)
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    tool_name: str | None = None
    tool_s: float | None = None
    tool_bytes: int | None = None
    gap_s: float = 0.0
    rewritten: dict[str, Message] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Without `rewritten` where nothing was: such a recording reads, and has the hash, that it always had."""
        data = super().to_dict()
        return data if self.rewritten else {key: value for key, value in data.items() if key != "rewritten"}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return super().from_dict({**data, "usage": Usage.from_dict(data.get("usage") or {})})


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A header and its steps, turns 1, 2, 3..."""

    header: RecordingHeader
    steps: tuple[RecordedStep, ...]

    def messages(self, index: int, replies: Sequence[Message] | None = None) -> list[Message]:
        """The messages of request `index` (from 0). `replies`: what replaces the recorded replies (live history)."""
        said = replies if replies is not None else [step.reply for step in self.steps]
        before = [message for n in range(index) for message in (*self.steps[n].append, said[n])]
        sent, rewritten = before + self.steps[index].append, self.steps[index].rewritten
        return [rewritten.get(str(at), message) for at, message in enumerate(sent)]

    def request(self, index: int, replies: Sequence[Message] | None = None) -> ChatRequest:
        """Request `index` as it was sent, or with other replies in its history."""
        options = self.steps[index].request
        known = {f.name for f in dataclasses.fields(ChatRequest)} - {"messages", "tools"}
        return ChatRequest(
            messages=self.messages(index, replies),
            tools=self.header.tools or None,
            **{key: value for key, value in options.items() if key in known},
        )


def request_options(request: ChatRequest) -> dict[str, Any]:
    """What `RecordedStep.request` keeps: all but messages, tools and the cache salt (that is the arm's business)."""
    return {k: v for k, v in request.to_dict().items() if k not in ("messages", "tools", "cache_salt")}


def save(recording: Recording, path: Path) -> Path:
    """Write a recording as JSONL; makes the folder. Returns `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [recording.header.to_dict(), *(step.to_dict() for step in recording.steps)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sha256(recording: Recording) -> str:
    """Hash of all that is sent and compared: the same in two runs that replayed the same requests."""
    rows = [recording.header.to_dict(), *(step.to_dict() for step in recording.steps)]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def load(path: Path) -> Recording:
    """Read a recording. Raises BadInput naming the file and line that is wrong."""
    if not path.is_file():
        raise BadInput("recording", str(path), "a file", _LIST)
    lines = path.read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")
    rows = [_row(path, n, line) for n, line in enumerate(lines, 1)]
    if rows[0].get("type") != "recording":
        raise BadInput(f"{path.name} line 1", path.name, "a header with type `recording`")
    if several := [str(row.get("name")) for row in rows if row.get("type") == "recording"][1:]:
        allowed = "one recording; a run's folder holds all that it replayed or made"
        raise BadInput(path.name, f"{len(several) + 1} recordings", allowed, _LIST)
    if rows[0].get("schema", 0) > SCHEMA:
        raise BadInput(f"{path.name} schema", rows[0]["schema"], f"at most {SCHEMA}", "Update labkit to read it.")
    try:
        header = RecordingHeader.from_dict(rows[0])
        steps = tuple(RecordedStep.from_dict(row) for row in rows[1:])
    except TypeError as error:
        raise BadInput(path.name, str(error), "every field of RecordingHeader and RecordedStep") from error
    _check(path, steps)
    return Recording(header=header, steps=steps)


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path.name} line {number}", line[:40], "one JSON object", str(error)) from error
    if not isinstance(row, dict):
        raise BadInput(f"{path.name} line {number}", line[:40], "one JSON object")
    return row


def _check(path: Path, steps: Sequence[RecordedStep]) -> None:
    if not steps:
        raise BadInput(path.name, 0, "at least one step")
    for number, step in enumerate(steps, 1):
        where = f"{path.name} line {number + 1}"
        if step.turn != number:
            raise BadInput(f"{where} turn", step.turn, f"{number}: turns count from 1 without gaps")
        if step.kind not in KINDS:
            raise BadInput(f"{where} kind", step.kind, ", ".join(KINDS))
        if not step.append:
            raise BadInput(f"{where} append", step.append, "at least one message: a request extends the one before")


def shipped() -> dict[str, Path]:
    """Name to file of the recordings that come with the project."""
    return {path.stem: path for path in sorted((data_dir() / "recordings").glob("*.jsonl"))}


def list_recordings() -> list[str]:
    """The names of the shipped recordings."""
    return list(shipped())


def named(name: str) -> Recording:
    """A shipped recording by its name, or any by the path of its file. Raises UnknownName, BadInput."""
    path = Path(name)
    if path.suffix == ".jsonl" and path.is_file():
        return load(path)
    if path.is_file():
        raise BadInput("recording", name, "a name, or a .jsonl file as `labkit record` writes it", _LIST)
    if path.suffix == ".jsonl" or len(path.parts) > 1:
        raise BadInput("recording", name, "a file that is there, or a name", _LIST)
    return load(pick("recording", name, shipped(), "labkit recordings"))
