"""Small things that every section of the Layers page is put together from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A number with its name. `value`: with its unit, a dash where not measured; `note`: what it is of."""

    label: str
    value: str
    note: str = ""
    help: str = ""


@dataclass(frozen=True, kw_only=True)
class Unpaired:
    """Why an arm has nothing to be compared with, and the command that measures both; `command` may be empty."""

    words: str
    command: str = ""
