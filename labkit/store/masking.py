"""Values that a page or a terminal must not show, whoever put them into a command line or an environment."""

from __future__ import annotations

import re

_SECRET = re.compile(r"(key|[-_]token|secret|password)$", re.IGNORECASE)
MASK = "(not shown)"


def is_secret(name: str) -> bool:
    """Whether an option or a variable of this name holds a secret: `--api-key`, `HF_TOKEN`."""
    return bool(_SECRET.search(name))


def masked(name: str, value: str) -> str:
    """The value, unless its name says that it is a secret."""
    return MASK if is_secret(name) else value
