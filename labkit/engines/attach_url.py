"""The address of an engine that runs already, as its users write it and as the lab uses it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from labkit.core.errors import BadInput

_SCHEMES = ("http", "https")
_TAILS = re.compile(r"/(?:chat/completions|completions|models)$|/v1$")
_ALLOWED = "http://HOST:PORT or https://HOST/PREFIX"


def endpoint_url(text: str, field: str = "endpoint") -> str:
    """`http://host:8000/prefix`, whatever stood behind it: `/v1`, `/v1/models`, `/v1/chat/completions`, a slash.

    Raises BadInput, which never repeats a credential: without a scheme or a host, with a user, a query or a fragment.
    """
    parts = _parts(text.strip(), field)
    path = parts.path.rstrip("/")
    while found := _TAILS.search(path):
        path = path[: found.start()].rstrip("/")
    return f"{parts.scheme.lower()}://{parts.netloc}{path}"


def page_url(text: str, field: str = "metrics") -> str:
    """The address of a /metrics page; `/metrics` is added where no path is said. Raises as `endpoint_url` does."""
    parts = _parts(text.strip(), field)
    return f"{parts.scheme.lower()}://{parts.netloc}{parts.path.rstrip('/') or '/metrics'}"


def origin_of(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _parts(text: str, field: str) -> SplitResult:
    if "://" not in text:
        hint = f"Say the scheme: http://{text}" if re.fullmatch(r"[\w.:\[\]/-]+", text) else ""
        raise BadInput(field, _bare(text), _ALLOWED, hint)
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise BadInput(field, _bare(text), _ALLOWED, f"{error}.") from None
    if parts.scheme.lower() not in _SCHEMES or not host:
        raise BadInput(field, _bare(text), _ALLOWED)
    if parts.username is not None or parts.password is not None:
        hint = "A key goes into an environment variable: --api-key-env NAME. It is never kept."
        raise BadInput(field, _bare(text), f"{_ALLOWED}, without a user or a password", hint)
    if parts.query or parts.fragment:
        raise BadInput(field, _bare(text), f"{_ALLOWED}, without ? or #", "A key goes into --api-key-env NAME.")
    return parts


def _bare(text: str) -> str:
    """The text without what may be a credential: a user, a query, a fragment."""
    return re.sub(r"[?#].*$", "", re.sub(r"^([^/]*//)?[^/@]*@", r"\1", text))
