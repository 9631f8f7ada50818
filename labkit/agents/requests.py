"""How a step is asked for: the same tools and an append-only history in every request, so that each extends the last.

`grammar` (small models): a grammar forces one well-formed call in the template's own spelling. `required` (models that
call tools well): the engine's `tool_choice: required` with strict schemas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from labkit.agents import specs
from labkit.agents.grammar import grammar
from labkit.agents.offers import EVERYTHING, Offer
from labkit.core.chat import ChatRequest, Message
from labkit.core.records import Kind

ToolMode = Literal["grammar", "required"]
TEXT_TOKENS: dict[Kind, int] = {"plan": 80, "observe": 64, "evaluate": 64, "answer": 112}


@dataclass(frozen=True, kw_only=True)
class RequestBuilder:
    """Makes the request of a step from its kind and the messages so far; all of one builder are one session."""

    tool_mode: ToolMode = "grammar"
    temperature: float = 0.0
    seed: int | None = None
    session: str = field(default_factory=lambda: uuid4().hex)

    @property
    def tools(self) -> list[dict[str, Any]]:
        return specs.schemas(strict=self.tool_mode == "required")

    def build(self, kind: Kind, messages: list[Message], offers: Sequence[Offer] = EVERYTHING) -> ChatRequest:
        """The request for a step of `kind`; the messages are copied. `offers`: what a grammar lets it choose from."""
        act = kind == "act"
        return ChatRequest(
            messages=list(messages),
            tools=self.tools,
            tool_choice=("auto" if self.tool_mode == "grammar" else "required") if act else "none",
            max_tokens=specs.call_tokens() if act else TEXT_TOKENS[kind],
            temperature=self.temperature,
            seed=self.seed,
            session=self.session,
            extra={"structured_outputs": {"grammar": grammar(offers)}} if act and self.tool_mode == "grammar" else {},
        )
