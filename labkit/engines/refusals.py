"""Every way in which a request can fail, as a RequestFailed that keeps the engine's own words."""

from __future__ import annotations

import json
from typing import Any

import aiohttp

from labkit.core.errors import RequestFailed

_LOG_HINT = "The engine's log says more: labkit ps names it."
_NO_PAIR_HINT = (
    "The router has no prefill or no decode: an engine has stopped announcing itself to it. See: labkit ps, labkit logs"
)
_NO_PAIR = "No eligible P/D pair"
_MAX_WORDS = 600
_BROKEN_FINISH = ("abort", "error")


def of_status(url: str, status: int, text: str) -> RequestFailed:
    """An HTTP status other than 200."""
    hint = _LOG_HINT if status >= 500 else "The request is at fault, not the engine."
    hint = _NO_PAIR_HINT if _NO_PAIR in text else hint
    return RequestFailed(f"{url} answered HTTP {status}: {_words(text)}", hint, status)


def of_transport(url: str, error: BaseException, timeout: aiohttp.ClientTimeout) -> RequestFailed:
    """A connection that could not be made, broke off or stayed silent."""
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return RequestFailed(f"{url} cannot be reached: {error}", "Is the engine up? See: labkit ps")
    if isinstance(error, aiohttp.SocketTimeoutError):
        return RequestFailed(f"{url} sent nothing for {timeout.sock_read} s", _LOG_HINT)
    if isinstance(error, TimeoutError):
        return RequestFailed(f"{url} did not finish within {timeout.total} s", _LOG_HINT)
    return RequestFailed(f"{url} broke the connection: {error or type(error).__name__}", _LOG_HINT)


def checked_event(url: str, data: str) -> dict[str, Any]:
    """The event as a dict. Raises RequestFailed when it is an error or not a JSON object."""
    try:
        event = json.loads(data)
    except ValueError as fault:
        raise RequestFailed(f"{url} sent an event that is not JSON: {data[:_MAX_WORDS]}", _LOG_HINT) from fault
    if not isinstance(event, dict):
        raise RequestFailed(f"{url} sent an event that is not an object: {data[:_MAX_WORDS]}", _LOG_HINT)
    if event.get("error"):
        raise RequestFailed(f"{url} failed within the stream: {_words(data)}", _LOG_HINT, _code(event["error"]))
    return event


def check_finished(url: str, finish_reason: str | None, *, done: bool) -> None:
    """Raises RequestFailed when the stream ended before the engine said that it was finished."""
    if finish_reason in _BROKEN_FINISH:
        raise RequestFailed(f"{url} gave up on the request: finish_reason is {finish_reason!r}", _LOG_HINT)
    if finish_reason is None or not done:
        missing = "a finish_reason" if finish_reason is None else "[DONE]"
        raise RequestFailed(f"{url} ended the stream without {missing}", _LOG_HINT)


def _words(text: str) -> str:
    """The engine's message, out of {"error": {"message": ...}}, {"message": ...}, {"detail": ...} or plain text."""
    try:
        said: Any = json.loads(text)
    except ValueError:
        said = text.strip()
    for key in ("error", "message", "detail"):
        said = said[key] if isinstance(said, dict) and said.get(key) else said
    return (said if isinstance(said, str) else json.dumps(said))[:_MAX_WORDS] or "(no text)"


def _code(error: Any) -> int | None:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None
