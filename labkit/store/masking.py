"""Data that is written without the secrets in it: what was asked, a fingerprint, an event, a message.

What is a secret in a text is `labkit.core.masking`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.masking import is_secret, masked_said, masked_said_of, masked_text, masked_words
from labkit.core.secret_places import MASK


def without_said_secrets(data: Any) -> Any:
    """The same JSON-able messages, every text in them masked as `masked_said` does, by its name where it has one."""
    if isinstance(data, Mapping):
        return {key: _of_said(str(key), value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_said_secrets(item) for item in data]
    return masked_said(data) if isinstance(data, str) else data


def _of_said(name: str, value: Any) -> Any:
    return masked_said_of(name, value) if isinstance(value, str) and value else without_said_secrets(value)


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
