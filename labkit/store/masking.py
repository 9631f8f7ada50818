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
    rf"|(?P<option>--[\w-]*{_NAME}\s+)(?!\(not shown)[^\s\"'-][^\s\"']*"
    r"|(?P<scheme>\bBearer\s+)(?!\(not shown)[^\s\"']+"
    r"|(?P<login>://)[^/@\s]+(?=@)",
    re.IGNORECASE,
)
"""A name that ends in such a word; such a name with its value in a text, an option, a header or JSON; a login."""


_EVERYDAY = re.compile(r"key|token", re.IGNORECASE)
_OWNED = re.compile(r"(?:api|access|auth|private|hf|bearer)[_-]?$")
_LONG = 24
"""Characters from which on a word without a digit is no everyday name."""


def is_secret(name: str) -> bool:
    """Whether an option or a variable of this name holds a secret: `--api-key`, `HF_TOKEN`, `Authorization`."""
    found = _SECRET.search(name)
    return bool(found and found["name"])


def masked(name: str, value: str) -> str:
    """The value; all of it masked when its name says that it is a secret, else what in it is one."""
    return MASK if is_secret(name) else masked_text(value)


def masked_text(text: str) -> str:
    """The text without the secrets that it names: `Authorization: Bearer x`, `--api-key x`, `http://me:x@host`."""
    return _SECRET.sub(_instead, text)


def masked_said(text: str) -> str:
    """What was said in a conversation, without its secrets.

    Code says `key=lambda` and `token: str`, so such a word counts there only with a value that looks like a secret, or
    as a part of a name that can mean nothing else, such as `api_key`.
    """
    return _SECRET.sub(lambda found: found[0] if _is_code(found) else _instead(found), text)


def without_said_secrets(data: Any) -> Any:
    """The same JSON-able messages, every text in them masked as `masked_said` does."""
    if isinstance(data, Mapping):
        return {key: without_said_secrets(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_said_secrets(item) for item in data]
    return masked_said(data) if isinstance(data, str) else data


def _instead(found: re.Match[str]) -> str:
    lead = found["said"] or found["option"] or found["scheme"] or found["login"]
    return f"{lead}{MASK}" if lead else found[0]


def _is_code(found: re.Match[str]) -> bool:
    """Whether a name with its value is everyday code: `key` or `token`, and a word that nobody would call a secret."""
    if not found["said"] or not _EVERYDAY.match(found["said"]):
        return False
    owner = found.string[: found.start()][-12:].lower()
    value = found[0].removeprefix(found["said"])
    return not _OWNED.search(owner) and not (len(value) >= _LONG or any(sign.isdigit() for sign in value))


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
