"""What answers at an address, and what it says of itself: an engine that runs already, whoever started it.

Only questions are asked here (GET, and /tokenize); `attach_request` sends a request that makes a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labkit.core.errors import BadInput, EngineError
from labkit.core.names import unknown
from labkit.engines.attach_http import Answer, Http
from labkit.engines.attach_kind import Answers, Kind, Maker, cards, halves, kind_of, maker_of, version_of
from labkit.engines.attach_url import origin_of
from labkit.engines.bearer import Bearer

__all__ = ["Looked", "look"]

_NOT_THERE = (404, 405)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What a server said. `maker`: whose engine it is, at the address or behind it; `version`: that engine's own.

    `models`: served names; `workers`: by what they do, where a router names them; `info`: SGLang's settings.
    `own_metrics`: whether /metrics beside the API is the engine's own page; what a router hands on is of one of many.
    """

    url: str
    kind: Kind
    maker: Maker | None
    version: str | None
    models: tuple[str, ...]
    max_model_len: int | None
    own_metrics: bool
    workers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)

    def model(self, asked: str | None = None) -> str:
        """The served name to ask for. Raises UnknownName for another, BadInput when there is a choice to make."""
        if asked is not None and (asked in self.models or not self.models):
            return asked
        if asked is not None:
            raise unknown("model", asked, self.models, f"curl {self.url}/v1/models")
        if len(self.models) != 1:
            listed = ", ".join(self.models) or "the name that it is served by: /v1/models names none"
            raise BadInput("model", None, listed, "Name one: --model NAME")
        return self.models[0]


async def look(url: str, bearer: Bearer | None = None, *, model: str | None = None, timeout_s: float = 8) -> Looked:
    """Ask. `url`: of `endpoint_url`. `model`: the name to go on with where a gateway hands /v1/models to nobody.

    Raises EngineError, with the next step, when no OpenAI API answers there.
    """
    async with Http(bearer, timeout_s) as http:
        models = await http.get(f"{url}/v1/models")
        said = await _beside(http, url, models)
    if not (model and models.status in _NOT_THERE):
        _require_api(said)
    kind, maker = kind_of(said), maker_of(said)
    listed = cards(models)
    return Looked(
        url=url,
        kind=kind,
        maker=maker,
        version=version_of(said),
        models=tuple(str(card["id"]) for card in listed),
        max_model_len=_length(listed),
        own_metrics=kind == maker and bool(said.metrics and said.metrics.ok),
        workers=halves(said),
        info=said.info.json if said.info and maker == "sglang" else {},
    )


async def _beside(http: Http, url: str, models: Answer) -> Answers:
    """What is asked besides the models, at once; /metrics without the key, as the lab reads it later."""
    paths = {"version": "/version", "metrics": "/metrics", "workers": "/workers", "info": "/server_info"}
    urls = {name: url + path for name, path in paths.items()} | {"routes": f"{origin_of(url)}/-/routes"}
    found = await asyncio.gather(*(http.find(each, with_key=name != "metrics") for name, each in urls.items()))
    return Answers(models=models, **dict(zip(urls, found, strict=True)))


def _require_api(said: Answers) -> None:
    models = said.models
    if models.ok and cards(models):
        return
    if models.status in (401, 403):
        raise EngineError(
            f"{models.url} answered HTTP {models.status}: it wants a key, or another one",
            "Put it into an environment variable and name that: --api-key-env NAME",
        )
    if models.is_page:
        raise EngineError(f"{models.url} answered with a web page, not with an API", _PATH)
    if models.status in _NOT_THERE:
        raise EngineError(f"{models.url} answered HTTP {models.status}: no OpenAI API is there", _routes_hint(said))
    if not models.ok:
        raise EngineError(
            f"{models.url} answered HTTP {models.status}: {models.text[:200].strip()}", "See its own log."
        )
    raise EngineError(f"{models.url} names no model: {models.text[:200].strip()}", _PATH)


_PATH = "Name the address before /v1, its path prefix included: http://HOST:PORT/PREFIX"


def _routes_hint(said: Answers) -> str:
    """Ray Serve says itself where its applications are."""
    if said.routes and kind_of(said) == "ray-serve":
        paths = [path for path in said.routes.json if path != "/"]
        return f"Ray Serve has applications at {', '.join(paths) or '/'}: {_PATH}"
    return _PATH


def _length(listed: Sequence[Mapping[str, Any]]) -> int | None:
    """Of the first model: vLLM's and SGLang's field, else Ray Serve's."""
    card = listed[0] if listed else {}
    metadata = card.get("metadata")
    found = card.get("max_model_len") or (metadata or {}).get("max_request_context_length")
    return found if isinstance(found, int) else None
