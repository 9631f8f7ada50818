"""GET what a server says of itself, and say in plain words why it cannot be got."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp

from labkit.core.errors import EngineError
from labkit.engines.bearer import Bearer

_MOST_BYTES = 4 << 20
_CURL = "Try it from here: curl {url}"
_SPOKE_PLAIN = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer. `headers`: names in lower case."""

    url: str
    status: int
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def is_page(self) -> bool:
        """Whether it is a web page, for people."""
        return "html" in self.headers.get("content-type", "") or self.text.lstrip()[:9].lower() in (
            "<!doctype",
            "<html>",
        )

    @property
    def json(self) -> dict[str, Any]:
        """The JSON object that it is; empty when it is none, or not ok."""
        try:
            found = json.loads(self.text) if self.ok else None
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {}


class Http:
    """GET requests with the key, if there is one. An async context manager. `timeout_s`: of each whole request."""

    def __init__(self, bearer: Bearer | None = None, timeout_s: float = 8) -> None:
        self._headers = bearer.headers if bearer else {}
        self._bearer = bearer
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=min(4, timeout_s))

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(timeout=self._timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def get(self, url: str, *, with_key: bool = True) -> Answer:
        """The answer, whatever its status. Raises EngineError when there is none."""
        try:
            async with self._session.get(url, headers=self._headers if with_key else {}) as response:
                text = (await response.content.read(_MOST_BYTES)).decode("utf-8", "replace")
                headers = {name.lower(): value for name, value in response.headers.items()}
                shown = self._bearer.hidden(text) if self._bearer else text
                return Answer(url=url, status=response.status, text=shown, headers=headers)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(url, error, self._timeout.total) from error

    async def find(self, url: str, *, with_key: bool = True) -> Answer | None:
        """As `get`; None when there is no answer: what a server says beside its API is not owed to anybody."""
        try:
            return await self.get(url, with_key=with_key)
        except EngineError:
            return None


def unreachable(url: str, error: BaseException, timeout_s: float | None) -> EngineError:
    """Why there was no answer, and what to do."""
    said = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return EngineError(f"{url}: no machine of that name is known here", "Look at the host's name in the address.")
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return _tls(url, error, said)
    if isinstance(error, aiohttp.ClientConnectorError):
        why = error.os_error.strerror or said
        return EngineError(
            f"{url}: nothing takes connections there ({why})", f"Is it up, and is this its port? {_try(url)}"
        )
    if isinstance(error, TimeoutError):
        return EngineError(
            f"{url}: no answer within {timeout_s:g} s", f"Is a firewall or a queue before it? {_try(url)}"
        )
    return EngineError(f"{url}: the connection broke off ({said})", f"Does it speak https there? {_try(url)}")


def _tls(url: str, error: BaseException, said: str) -> EngineError:
    if any(word in said for word in _SPOKE_PLAIN):
        plain = url.replace("https://", "http://", 1)
        return EngineError(f"{url}: no TLS is spoken there", f"Try it without: {plain}")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        hint = "For a CA of your own, name its file in SSL_CERT_FILE; labkit never skips the check."
        return EngineError(f"{url}: its certificate is not trusted here ({error.certificate_error})", hint)
    return EngineError(f"{url}: TLS failed ({said})", "Does the server speak https there?")


def _try(url: str) -> str:
    return _CURL.format(url=url)
