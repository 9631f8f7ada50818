"""Secrets that nobody may find in a run folder, a page or an export, whoever put them into a text or a command line.

Masked where they are written; once more where they are shown, for folders that were written before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from labkit.core.secret_places import MASK, NAME, Place, next_place

_IS_SECRET = re.compile(rf"{NAME}$", re.IGNORECASE)
_EVERYDAY = re.compile(r"(?:key|token)$", re.IGNORECASE)
_OWNED = re.compile(r"(?:api|access|auth|private|hf|bearer)[_-]?$")
_SCHEME = re.compile(r"(?:Bearer|Basic)\s", re.IGNORECASE)
_CONSTANT = re.compile(r"true|false|null|none|nan|-?infinity", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_LONG = 24
"""Characters from which on a word without a digit is no everyday name."""
_MANY = 6
"""Digits from which on a number may be a secret."""


def is_secret(name: str) -> bool:
    """Whether an option or a variable of this name holds a secret: `--api-key`, `HF_TOKEN`, `Authorization`."""
    return bool(_IS_SECRET.search(name))


def masked(name: str, value: str) -> str:
    """The value; all of it masked when its name says that it is a secret, else what in it is one."""
    return MASK if is_secret(name) else masked_text(value)


def masked_said_of(name: str, value: str) -> str:
    """As `masked`, of what was said in a conversation, where `key` and `token` are everyday words."""
    if is_secret(name) and not (_is_everyday(name) and _is_word(value)):
        return MASK
    return masked_said(value)


def masked_text(text: str) -> str:
    """The text without the secrets that it names: `Authorization: Bearer x`, `--api-key x`, `http://me:x@host`.

    What has the shape of a secret is one without any name: `sk-...`, `hf_...`, `ghp_...`. JSON stays JSON.
    """
    return _masked(text, everyday=False)


def masked_said(text: str) -> str:
    """What was said in a conversation, without its secrets. JSON stays JSON.

    Code says `key=lambda` and `token: str`, so such a word counts there only with a value that looks like a secret, or
    as a part of a name that can mean nothing else, such as `api_key`.
    """
    return _masked(text, everyday=True)


def _masked(text: str, *, everyday: bool) -> str:
    parts, at = list[str](), 0
    while place := next_place(text, at):
        if place.start == place.end or _spared(text[place.start : place.end], place, everyday):
            parts.append(text[at : place.next])
            at = place.next
        else:
            parts += [text[at : place.start], place.quotes, MASK, place.quotes]
            at = place.end
    return "".join([*parts, text[at:]])


def _spared(value: str, place: Place, everyday: bool) -> bool:
    """Whether this is no secret. Beside a name in quotes, a number is one where the name can mean nothing else."""
    if place.quotes and _CONSTANT.fullmatch(value):
        return True
    if place.quotes and _NUMBER.fullmatch(value):
        return _is_everyday(place.name)
    return everyday and _is_everyday(place.name) and _is_word(value)


def _is_everyday(name: str) -> bool:
    """Whether the name ends in `key` or `token`, and in nothing that says whose."""
    found = _EVERYDAY.search(name)
    return found is not None and not _OWNED.search(name[: found.start()].lower())


def _is_word(value: str) -> bool:
    """Whether a value, or what it begins with, is one that nobody would call a secret: a word, or a small number."""
    first = next(iter(value.split()), "")
    small = _NUMBER.fullmatch(first) and ("." in first or len(first) < _MANY)
    return not _SCHEME.match(value) and bool(small or not (len(first) >= _LONG or any(c.isdigit() for c in first)))


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
