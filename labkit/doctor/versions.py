"""Versions as far as the lab's own requirements need them: `==` and `>=` of dotted numbers."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Collection
from typing import NamedTuple

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<wanted>(?:==|>=)[\d.]+)(?:; extra == \"(?P<extra>\w+)\")?")


class Wanted(NamedTuple):
    """A package and the versions that will do (`==0.32.0`)."""

    name: str
    versions: str


def satisfies(version: str, wanted: str) -> bool:
    """Whether `version` (`1.61.0`, `2.13.0+cpu`) is one of `wanted` (`>=1.61`, `==2.13.0`)."""
    sign, than = wanted[:2], _numbers(wanted[2:])
    have = _numbers(version)
    width = max(len(have), len(than))
    padded = [(*numbers, *[0] * (width - len(numbers))) for numbers in (have, than)]
    return padded[0] >= padded[1] if sign == ">=" else padded[0] == padded[1]


def wanted_of(distribution: str, extras: Collection[str]) -> list[Wanted]:
    """What the installed distribution asks for under these extras, in its order; empty when it is not installed."""
    try:
        lines = importlib.metadata.requires(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    matches = filter(None, map(_REQUIREMENT.fullmatch, lines))
    return [Wanted(match["name"], match["wanted"]) for match in matches if match["extra"] in extras]


def python_of(distribution: str) -> str:
    """The Python versions that the installed distribution asks for (`>=3.11`); any, when it does not say."""
    try:
        return importlib.metadata.metadata(distribution)["Requires-Python"] or ">=3"
    except (importlib.metadata.PackageNotFoundError, KeyError):
        return ">=3"


def installed(package: str) -> str | None:
    """The installed version; None when there is none. Reads metadata: nothing is imported."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The release number: `2.13.0+cpu` is (2, 13, 0)."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])) or (0,)
