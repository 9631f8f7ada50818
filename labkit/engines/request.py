"""A ChatRequest as the JSON bodies that vLLM and its kin take."""

from __future__ import annotations

from typing import Any

from labkit.core.chat import ChatRequest
from labkit.engines.dialect import ASKS, Dialect

_TOKENIZE_EXTRA = ("chat_template", "chat_template_kwargs")
_OPTIONAL = ("tools", "tool_choice", "seed", "cache_salt")


def chat_body(request: ChatRequest, model: str, dialect: Dialect = "vllm") -> dict[str, Any]:
    """The body of POST /v1/chat/completions: streamed, with usage. `request.extra` wins over the other fields.

    Token ids are asked for because vLLM's tool parser sends no event until a tool's name is complete, some ten tokens
    late; with them every decode step has its event. SGLang refuses them in a stream, and is asked otherwise.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": request.messages,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    body |= {name: value for name in _OPTIONAL if (value := getattr(request, name)) is not None}
    if request.ignore_eos:
        body["ignore_eos"] = True
    return body | dict(ASKS[dialect]) | request.extra | {"stream": True, "stream_options": {"include_usage": True}}


def tokenize_body(request: ChatRequest, model: str) -> dict[str, Any]:
    """The body of POST /tokenize that renders the same prompt as the chat request."""
    body: dict[str, Any] = {"model": model, "messages": request.messages, "add_generation_prompt": True}
    if request.tools is not None:
        body["tools"] = request.tools
    return body | {key: request.extra[key] for key in _TOKENIZE_EXTRA if key in request.extra}
