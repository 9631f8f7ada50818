"""The tools as the model sees them.

Every argument is bounded, so that a whole call always fits `call_tokens` and is never cut off in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Param:
    """One string argument of at most `limit` characters. `path`: letters, digits and `_./-` only."""

    name: str
    limit: int
    kind: Literal["path", "text"] = "text"
    may_be_empty: bool = False


@dataclass(frozen=True)
class ToolSpec:
    """A tool's name, what it does (read by the model) and its arguments, all of them required."""

    name: str
    description: str
    params: tuple[Param, ...] = ()


_PATH = Param("path", 60, "path")
TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec("list_files", "List the files of the workspace."),
    ToolSpec("search_code", "Show the lines that contain a text, with file and line number.", (Param("query", 40),)),
    ToolSpec("read_file", "Show a file.", (_PATH,)),
    ToolSpec(
        "edit_file",
        "Replace the one place where the text `old` occurs in a file by `new`.",
        (_PATH, Param("old", 200), Param("new", 240, may_be_empty=True)),
    ),
    ToolSpec("run_tests", "Run all tests and show what fails."),
    ToolSpec("finish", "Say that the work is done.", (Param("summary", 120),)),
)

_OVERHEAD_TOKENS = 64
"""The fixed text of the longest call: tags, names, quotes, at a token for every two characters."""


def call_tokens(specs: tuple[ToolSpec, ...] = TOOLS) -> int:
    """The most tokens that a call can need: one a character, two for text (an escape is two characters)."""
    return _OVERHEAD_TOKENS + max(sum(p.limit * (2 if p.kind == "text" else 1) for p in s.params) for s in specs)


def schemas(specs: tuple[ToolSpec, ...] = TOOLS, *, strict: bool = False) -> list[dict[str, Any]]:
    """The `tools` field of a chat-completions request. `strict`: the engine enforces the arguments' schema."""
    return [{"type": "function", "function": _function(spec, strict)} for spec in specs]


def _function(spec: ToolSpec, strict: bool) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {p.name: {"type": "string", "maxLength": p.limit} for p in spec.params},
        "required": [p.name for p in spec.params],
        "additionalProperties": False,
    }
    function = {"name": spec.name, "description": spec.description, "parameters": parameters}
    return {**function, "strict": True} if strict else function
