"""One small request to an engine that was attached: what its replies tell, and whether it takes a cache salt."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Literal

from labkit.core.chat import ChatRequest, Reply
from labkit.core.errors import EngineError, RequestFailed
from labkit.engines.client import EngineClient

Salt = Literal["checked", "accepted", "refused"]
_FORBIDDEN = "@"
"""vLLM refuses a salt with this sign before it computes anything; a server that does not, does not read it as vLLM."""
_REFUSED = (400, 422)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the reply had, and `salt`. checked: read as vLLM reads it; accepted: not refused, and no more is known."""

    cached_tokens: bool
    token_ids: bool
    request_metrics: bool
    request_drafts: bool
    salt: Salt


async def ask(client: EngineClient) -> Told:
    """Send it: `max_tokens` 1. Twice where the salt is refused, and a second one that vLLM refuses unread.

    Raises EngineError with what to do when the server cannot answer it.
    """
    request = ChatRequest(
        messages=[{"role": "user", "content": "Ready?"}], max_tokens=1, cache_salt=f"labkit-{uuid.uuid4().hex[:12]}"
    )
    try:
        reply = await client.chat(request)
    except RequestFailed as failure:
        if failure.status not in _REFUSED:
            raise cannot_chat(client.base_url, failure) from failure
        return _told(await _without_salt(client, request), "refused")
    return _told(reply, "checked" if await _refuses(client, request) else "accepted")


async def tokenizes(client: EngineClient) -> bool:
    """Whether /tokenize renders a chat request as token ids. Nothing is generated."""
    try:
        return bool(await client.tokenize(ChatRequest(messages=[{"role": "user", "content": "Ready?"}])))
    except RequestFailed:
        return False


def cannot_chat(url: str, failure: RequestFailed) -> EngineError:
    """The failure of a first request, with the next step."""
    hints = {
        401: "It wants a key, or another one: --api-key-env NAME, a variable that holds it.",
        403: "The key that was sent may not do this: --api-key-env NAME, a variable that holds another.",
        404: f"There is no chat API at {url}/v1/chat/completions, or no such model: look at the address's path.",
        429: "It has too much to do, or the key's quota is spent: measure when it is idle.",
    }
    return EngineError(failure.message, hints.get(failure.status or 0, failure.hint))


async def _without_salt(client: EngineClient, request: ChatRequest) -> Reply:
    try:
        return await client.chat(replace(request, cache_salt=None))
    except RequestFailed as failure:
        raise cannot_chat(client.base_url, failure) from failure


async def _refuses(client: EngineClient, request: ChatRequest) -> bool:
    try:
        await client.chat(replace(request, cache_salt=_FORBIDDEN))
    except RequestFailed as failure:
        return failure.status in _REFUSED
    return False


def _told(reply: Reply, salt: Salt) -> Told:
    usage = reply.usage
    return Told(
        cached_tokens=usage.cached_tokens is not None,
        token_ids=reply.token_ids is not None,
        request_metrics=usage.prefill_s is not None,
        request_drafts=usage.drafts is not None,
        salt=salt,
    )
