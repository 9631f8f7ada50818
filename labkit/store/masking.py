"""Secrets that nobody may find in a run folder, a page or an export, whoever put them into a command line.

Masked where they are written; once more where they are shown, for folders that were written before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = "(not shown)"
_NAME = r"(?:key|token|secret|passw(?:or)?d|authorization)"
_SECRET = re.compile(
    rf"(?P<name>{_NAME})$"
    rf"|(?P<said>{_NAME}[\"']?\s*[:=]\s*(?:\[\s*)?[\"']?)(?!\(not shown)(?:(?:Bearer|Basic)\s+)?[^\s\"',}}\[\]&]+"
    r"|(?P<scheme>\bBearer\s+)(?!\(not shown)[^\s\"']+"
    r"|(?P<login>://)[^/@\s]+(?=@)",
    re.IGNORECASE,
)
"""A name that ends in such a word; such a name with its value in a text, a header or JSON; a login in an address."""


def is_secret(name: str) -> bool:
    """Whether an option or a variable of this name holds a secret: `--api-key`, `HF_TOKEN`, `Authorization`."""
    found = _SECRET.search(name)
    return bool(found and found["name"])


def masked(name: str, value: str) -> str:
    """The value; all of it masked when its name says that it is a secret, else what in it is one."""
    return MASK if is_secret(name) else masked_text(value)


def masked_text(text: str) -> str:
    """The text without the secrets that it names: `Authorization: Bearer x`, `"api_key": "x"`, `http://me:x@host`."""

    def instead(found: re.Match[str]) -> str:
        lead = found["said"] or found["scheme"] or found["login"]
        return f"{lead}{MASK}" if lead else found[0]

    return _SECRET.sub(instead, text)


def masked_words(words: Sequence[str]) -> list[str]:
    """A command line without its secrets: `--api-key x y` and `--hf_token=x` keep their names alone."""
    found, secret = list[str](), False
    for word in words:
        name, sign, value = word.partition("=")
        if word.startswith("-"):
            secret = is_secret(name) and not sign
            found.append(f"{name}={masked(name, value)}" if sign else masked_text(word))
        else:
            found.append(MASK if secret else masked_text(word))
    return found


def without_secrets(data: Any) -> Any:
    """The same JSON-able data: strings under secret names, in command lines and in texts masked."""
    if isinstance(data, Mapping):
        return {key: _of(str(key), value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        if all(isinstance(item, str) for item in data):
            return masked_words(data)
        return [without_secrets(item) for item in data]
    return masked_text(data) if isinstance(data, str) else data


def _of(name: str, value: Any) -> Any:
    """A number is no secret: `first_token` may be a time."""
    if is_secret(name) and value and isinstance(value, str | list | tuple):
        return MASK
    return without_secrets(value)
