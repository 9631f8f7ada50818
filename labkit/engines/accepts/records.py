"""A line that is put to an engine, and what the engine made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from labkit.core.names import pick
from labkit.core.records import Record

Kind = Literal["python", "arguments", "flags", "serve", "router", "keys"]
KINDS: tuple[Kind, ...] = ("python", "arguments", "flags", "serve", "router", "keys")
Status = Literal["accepted", "refused", "ignored", "not installed", "no answer"]
KNOWN: tuple[Status, ...] = ("accepted", "refused", "ignored")
"""The statuses that say something about the line; the others say that nobody could be asked."""


@dataclass(frozen=True, kw_only=True)
class Question(Record):
    """One line. `text`: as somebody would write it. `given`: what is put to the engine, by kind:

    | kind      | given                                         | put to                                              |
    |-----------|-----------------------------------------------|-----------------------------------------------------|
    | python    | `code`, `read`: expressions                   | the interpreter: the lines are run                  |
    | arguments | `arguments`, `read`: dotted names             | EngineArgs, then every config class that it reaches |
    | flags     | `argv`, `read`: names; `files`: name to text  | the parser of `vllm serve`, and its --config reader |
    | serve     | `argv`: after `vllm serve`; `env`: by name    | its parser, the server's checks, every config class |
    | router    | `argv`, `read`: names                         | vllm-router's own parser                            |
    | keys      | `arguments`, `keys`                           | the connector: its settings with and without `keys` |

    Names of models stand for folders with the config.json that `ask` was given: nothing is fetched, nothing is loaded.
    """

    id: str
    kind: Kind
    text: str
    given: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer(Record):
    """`said`: the engine's own words where it refused, or why nobody could be asked; empty otherwise.

    `read`: what the engine made of the line: values by name; of `keys`, each setting that changed, before and after.
    `compared`: settings that were compared, of `keys`. `warned`: warnings that name one of the keys.
    `reached`: which of the engine's checks let it through, in their order, of `serve` and `router`.
    """

    id: str
    status: Status
    said: str = ""
    read: dict[str, Any] = field(default_factory=dict)
    compared: int = 0
    warned: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        lists = {"warned": (), "reached": ()}
        told = {**lists, **data}
        return super().from_dict({**told, **{name: tuple(told[name]) for name in lists}})


@dataclass(frozen=True, kw_only=True)
class Answers(Record):
    """All answers of one engine. `vllm`: its version, None: not installed. `asked_on`: YYYY-MM-DD.

    `platform`: what vLLM takes this machine for (`cpu`, `rocm`, `cuda`); None where it was not asked.
    """

    vllm: str | None
    python: str | None
    asked_on: str
    seconds: float
    answers: tuple[Answer, ...]
    platform: str | None = None

    def of(self, question: str) -> Answer:
        """The answer to the question with this id. Raises UnknownName."""
        return pick("question", question, {answer.id: answer for answer in self.answers}, "answers.answers")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """From what `to_dict` made, through JSON or not. Raises KeyError and TypeError for another shape."""
        answers = tuple(Answer.from_dict(each) for each in data["answers"])
        return super().from_dict({**data, "answers": answers})
