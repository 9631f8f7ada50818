"""What the fake says, token by token and step by step; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from labkit.engines.fake.dials import FakeDials, FakeReply
from labkit.engines.fake.tokens import WIDTH, split

_EXAMPLES: dict[str, Any] = {"string": "x", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True)
class Token:
    """`kind`: reasoning, content, name or arguments; `call`: which tool call a name or argument belongs to."""

    kind: str
    text: str
    call: int = 0


@dataclass(frozen=True)
class Step:
    """One forward pass: the tokens that it made; draft tokens checked and accepted in it."""

    tokens: list[Token]
    drafted: int = 0
    accepted: int = 0


def reply_tokens(reply: FakeReply) -> list[Token]:
    """A scripted reply as tokens: reasoning, content, then each call's name (one token or more) and arguments."""
    tokens = [Token("reasoning", text) for text in split(reply.reasoning)]
    tokens += [Token("content", text) for text in split(reply.content)]
    for index, (name, arguments) in enumerate(reply.tool_calls):
        tokens += [Token("name", text, index) for text in split(name)]
        tokens += [Token("arguments", text, index) for text in split(arguments)]
    return tokens


def default_reply(body: Mapping[str, Any], dials: FakeDials) -> FakeReply:
    """A call of the tool that the request insists on, else `reply_tokens` tokens of text."""
    tool = _forced_tool(body)
    if tool:
        return FakeReply(tool_calls=((tool["name"], json.dumps(_arguments(tool))),))
    return FakeReply(content=_filler(dials.reply_tokens))


def fitted(tokens: list[Token], body: Mapping[str, Any]) -> tuple[list[Token], str]:
    """The tokens cut to max_tokens, or filled up to it under ignore_eos, and the finish reason."""
    limit = int(body.get("max_tokens") or 16)
    if body.get("ignore_eos") and len(tokens) < limit:
        tokens = [*tokens, *(Token("content", text) for text in split(_filler(limit - len(tokens))))]
    if len(tokens) > limit or body.get("ignore_eos"):
        return tokens[:limit], "length"
    return tokens, "tool_calls" if any(token.kind == "name" for token in tokens) else "stop"


def steps(tokens: Sequence[Token], dials: FakeDials) -> Iterator[Step]:
    """Prefill makes the first token; each later step makes one, or 1 + accepted.

    As in vLLM, drafts accepted past the end of the reply still count.
    """
    yield Step(list(tokens[:1]))
    at, accepted = 1, cycle(dials.acceptance)
    while at < len(tokens):
        hits = next(accepted)
        yield Step(list(tokens[at : at + 1 + hits]), dials.num_spec_tokens, hits)
        at += 1 + hits


def delta(tokens: Sequence[Token], started: set[int], request_id: str) -> dict[str, Any]:
    """The chat-completions delta of some tokens. `started`: calls whose id was sent; updated."""
    out: dict[str, Any] = {}
    for kind in ("reasoning", "content"):
        if text := "".join(token.text for token in tokens if token.kind == kind):
            out[kind] = text
    calls = [_call_delta(token, started, request_id) for token in tokens if token.kind in ("name", "arguments")]
    return out | ({"tool_calls": calls} if calls else {})


def _call_delta(token: Token, started: set[int], request_id: str) -> dict[str, Any]:
    piece: dict[str, Any] = {"index": token.call, "function": {token.kind: token.text}}
    if token.call not in started:
        started.add(token.call)
        piece |= {"id": f"call-{request_id}-{token.call}", "type": "function"}
    return piece


def _forced_tool(body: Mapping[str, Any]) -> dict[str, Any] | None:
    choice = body.get("tool_choice")
    tools: list[dict[str, Any]] = [tool["function"] for tool in body.get("tools") or ()]
    if isinstance(choice, dict):
        return next((tool for tool in tools if tool["name"] == choice["function"]["name"]), None)
    return tools[0] if choice == "required" and tools else None


def _arguments(tool: Mapping[str, Any]) -> dict[str, Any]:
    schema = tool.get("parameters") or {}
    kinds = schema.get("properties") or {}
    required = schema.get("required") or ()
    return {name: _example(kinds.get(name) or {}) for name in required}


def _example(schema: Mapping[str, Any]) -> Any:
    return schema["enum"][0] if schema.get("enum") else _EXAMPLES.get(schema.get("type", "string"), "x")


def _filler(count: int) -> str:
    return "".join(f"{index:>{WIDTH}}"[-WIDTH:] for index in range(count))
