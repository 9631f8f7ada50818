"""Prompts as tokens without an engine: the model's own chat template and its own tokenizer, from its folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from labkit.core.chat import ChatRequest, Message
from labkit.core.errors import WeightsError
from labkit.doctor.prompt_prefix import Render
from labkit.doctor.template import of_template
from labkit.engines import weights

Encode = Callable[[str], list[int]]
BEGIN = "<|im_start|>assistant\n"
"""How a reply begins in ChatML, which both templates that are counted here write."""


def encoder(model: str) -> Encode:
    """Text to token ids by this model's tokenizer. Raises WeightsError when it is not on this machine."""
    try:
        from tokenizers import Tokenizer  # here: who counts nothing does not need it
    except ImportError as error:
        raise WeightsError("The module tokenizers is not installed.", "Run: make setup") from error
    tokenizer = Tokenizer.from_file(str(weights.path(model) / "tokenizer.json"))
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


def template_of(model: str) -> Render:
    """How this model's own template writes a request. Raises WeightsError when it is not on this machine."""
    return of_template((weights.path(model) / "chat_template.jinja").read_text(encoding="utf-8"))


def prompt(request: ChatRequest, render: Render, encode: Encode) -> list[int]:
    """The tokens that the engine is sent, up to where the reply begins."""
    return encode(render(request) + BEGIN)


def whole(request: ChatRequest, reply: Message, render: Render, encode: Encode) -> list[int]:
    """The same with the reply behind it, as the engine generated it: what its cache holds afterwards."""
    said = render(dataclasses.replace(request, messages=[*request.messages, reply]))
    return encode(said.removesuffix("\n"))  # the line break is the template's, not generated
