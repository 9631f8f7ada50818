"""The user's pip settings, said in uv's words.

uv does not read pip's configuration: behind a company mirror it would ask an index that cannot be reached. Extra
indexes are left to pip: in uv an extra index hides what the main one has of the same package.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

_WORDS = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}
_UNSET = ("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PYTHONHOME", "PYTHONPATH")
_SCOPES = ("global", "install", ":env:")
"""Where pip looks, the later one wins."""


def settings(listing: str) -> dict[str, str]:
    """What `pip config list` printed, without its scopes: `{"index-url": ..., "cert": ...}`."""
    found: dict[str, str] = {}
    for scope in _SCOPES:
        for line in listing.splitlines():
            key, equals, value = line.partition("=")
            if equals and key.startswith(f"{scope}."):
                found[key.removeprefix(f"{scope}.")] = str(ast.literal_eval(value))
    return found


def uv_environment(listing: str, environment: Mapping[str, str]) -> dict[str, str]:
    """UV_* variables that mean what pip is configured with; those that the user has set stay as they are."""
    found = settings(listing)
    words = {_WORDS[key]: value for key, value in found.items() if key in _WORDS}
    return {name: value for name, value in words.items() if name not in environment}


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for installers: without what would send packages elsewhere or leave them uncompiled."""
    unset = {*_UNSET, "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}
    return {name: value for name, value in environment.items() if name not in unset}
