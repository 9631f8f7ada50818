"""Look at an engine that was attached: what it says of itself, what its counters have, what one small request tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.errors import EngineError
from labkit.engines.attach import Looked, look
from labkit.engines.attach_request import Told, ask, tokenizes
from labkit.engines.bearer import Bearer
from labkit.engines.client import EngineClient
from labkit.experiments.attached.endpoints import Endpoint
from labkit.experiments.attached.pages import PageSeen, read_pages
from labkit.experiments.attached.records import AttachedEngine

_PATIENCE_S = 60.0
"""For the one small request: an engine that was idle may compile first."""


async def probe(
    endpoint: Endpoint, *, model: str | None = None, bearer: Bearer | None = None, request: bool = True
) -> AttachedEngine:
    """`model`: the served name, where there are several. `request`: whether one that makes a token is sent.

    Raises EngineError, BadInput and UnknownName with the next step, within seconds.
    """
    looked = await look(endpoint.url, bearer, model=model)
    name = looked.model(model)
    urls = endpoint.metrics or ({"engine": f"{looked.url}/metrics"} if looked.own_metrics else {})
    pages = await _pages(urls, named=bool(endpoint.metrics))
    async with EngineClient(
        looked.url, name, timeout_s=_PATIENCE_S, bearer=bearer, dialect=looked.maker or "vllm"
    ) as client:
        told = await ask(client) if request else None
        tokenizer = await tokenizes(client)
    return AttachedEngine(
        **_said(looked),
        **_seen(looked, pages),
        **_told(told),
        model=name,
        metrics={role: urls[role] for role in pages},
        counts={role: page.counts for role, page in pages.items()},
        tokenizer=tokenizer,
        key_from=bearer.name if bearer else None,
    )


async def _pages(urls: Mapping[str, str], *, named: bool) -> dict[str, PageSeen]:
    """Those that are named must be readable; the engine's own may be missing."""
    try:
        return await read_pages(urls)
    except EngineError:
        if named:
            raise
        return {}


def _said(looked: Looked) -> dict[str, Any]:
    names = ("url", "kind", "maker", "version", "models", "max_model_len", "workers")
    return {name: getattr(looked, name) for name in names}


def _told(told: Told | None) -> dict[str, Any]:
    return {"probed": True, **vars(told)} if told else {}


def _seen(looked: Looked, pages: Mapping[str, PageSeen]) -> dict[str, Any]:
    """Layers and sizes: from SGLang's settings, from the pages, from the workers that a router names."""
    prompt = pages.get("prefill") or next(iter(pages.values()), None)
    reply = pages.get("decode") or prompt
    info = looked.info
    return {
        "block_size": info.get("page_size") or (prompt.block_size if prompt else None),
        "prefix_caching": _caching(info, prompt),
        "speculation": _speculation(info, reply),
        "split": _split(looked, pages),
        "kv_connector": _connector(info, reply),
        "running": _sum([page.running for page in pages.values()]),
    }


def _caching(info: Mapping[str, Any], page: PageSeen | None) -> bool | None:
    if isinstance(info.get("disable_radix_cache"), bool):
        return not info["disable_radix_cache"]
    return page.prefix_caching if page else None


def _speculation(info: Mapping[str, Any], page: PageSeen | None) -> bool | None:
    """vLLM has the counters of drafts with a speculative config alone."""
    if "speculative_algorithm" in info:
        return info["speculative_algorithm"] is not None
    return page.has("drafts") if page and page.prefix_caching is not None else None


def _split(looked: Looked, pages: Mapping[str, PageSeen]) -> bool | None:
    if looked.workers:
        return "decode" in looked.workers
    if "decode" in pages:
        return True
    return False if looked.own_metrics else None


def _connector(info: Mapping[str, Any], page: PageSeen | None) -> str | None:
    """Of vLLM's only NIXL's tells itself by counters of its own."""
    if info.get("disaggregation_mode") in ("prefill", "decode"):
        return str(info.get("disaggregation_transfer_backend"))
    return "nixl" if page and page.has("transfers") else None


def _sum(numbers: list[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
