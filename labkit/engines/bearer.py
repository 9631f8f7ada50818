"""An API key that is sent and never kept: it comes from the environment, and no repr, error or record shows it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from labkit.core.errors import BadInput
from labkit.core.secret_places import MASK

DEFAULT_NAME = "OPENAI_API_KEY"


@dataclass(frozen=True)
class Bearer:
    """`name`: of the environment variable that holds the key."""

    name: str
    _key: str = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """What a request carries of it."""
        return {"Authorization": f"Bearer {self._key}"}

    def hidden(self, text: str) -> str:
        """The text with the key masked: a server that refuses it may say it back."""
        return text.replace(self._key, MASK)


def bearer_from(environment: Mapping[str, str] = os.environ, name: str | None = None) -> Bearer | None:
    """The key in the variable `name`, else in OPENAI_API_KEY; None when nothing is set.

    Raises BadInput for a variable that is named and not set, or whose value cannot be sent in a header.
    """
    key = environment.get(name or DEFAULT_NAME, "").strip()
    if not key:
        if name is None:
            return None
        raise BadInput("api-key-env", name, "an environment variable that is set", f"Set it first: export {name}=...")
    if not key.isascii() or not key.isprintable():
        raise BadInput("api-key-env", name or DEFAULT_NAME, "a variable whose value is printable ASCII, in one line")
    return Bearer(name or DEFAULT_NAME, key)
