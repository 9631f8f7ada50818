"""What a server is, from what it says of itself. Pure.

A router or a gateway hands questions on to one of those behind it, so that it looks like an engine; what gives it away
is looked at first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from labkit.engines.attach_http import Answer

Kind = Literal["vllm", "sglang", "vllm-router", "gateway", "ray-serve", "openai-compatible"]
Maker = Literal["vllm", "sglang"]
TITLES: Mapping[Kind, str] = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "vllm-router": "vllm-router",
    "gateway": "a gateway (Envoy), as llm-d's is",
    "ray-serve": "Ray Serve",
    "openai-compatible": "a server with the OpenAI API",
}
_ENVOY = ("envoy", "istio-envoy")


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What was asked: /v1/models, and beside the API whatever there is. None: no answer."""

    models: Answer
    version: Answer | None = None
    metrics: Answer | None = None
    workers: Answer | None = None
    routes: Answer | None = None
    info: Answer | None = None


def kind_of(said: Answers) -> Kind:
    """Which kind of server answers at the address itself."""
    if isinstance(_json(said.workers).get("workers"), list):
        return "vllm-router"
    if _is_routes(said.routes):
        return "ray-serve"
    if _through_envoy(said.models):
        return "gateway"
    return maker_of(said) or "openai-compatible"


def maker_of(said: Answers) -> Maker | None:
    """Whose engine makes the replies, as far as it tells: at the address or behind it."""
    owners = {str(card.get("owned_by")) for card in cards(said.models)}
    page = said.metrics.text if said.metrics and said.metrics.ok else ""
    if "sglang" in owners or "\nsglang:" in page or "tokenizer_path" in _json(said.info):
        return "sglang"
    if "vllm" in owners or "\nvllm:" in page:
        return "vllm"
    return None


def version_of(said: Answers) -> str | None:
    """The engine's own version; None when it does not say."""
    found = _json(said.info if maker_of(said) == "sglang" else said.version).get("version")
    return found if isinstance(found, str) else None


def cards(models: Answer) -> list[dict[str, Any]]:
    """The models of /v1/models that are no adapters of another."""
    found = models.json.get("data")
    listed = [card for card in found if isinstance(card, dict) and card.get("id")] if isinstance(found, list) else []
    return [card for card in listed if not card.get("parent")] or listed


def halves(said: Answers) -> dict[str, list[str]]:
    """Addresses of the workers that a router names, by what they do: `prefill`, `decode` or `regular`."""
    found: dict[str, list[str]] = {}
    for worker in _json(said.workers).get("workers") or ():
        if isinstance(worker, dict) and isinstance(worker.get("url"), str):
            found.setdefault(str(worker.get("worker_type")), []).append(worker["url"])
    return found


def _json(answer: Answer | None) -> dict[str, Any]:
    return answer.json if answer else {}


def _is_routes(answer: Answer | None) -> bool:
    """Ray Serve's list: path to the name of an application."""
    routes = _json(answer)
    return bool(routes) and all(path.startswith("/") and isinstance(name, str) for path, name in routes.items())


def _through_envoy(answer: Answer) -> bool:
    named = answer.headers.get("server", "").lower() in _ENVOY
    return named or any(name.startswith("x-envoy-") for name in answer.headers)
