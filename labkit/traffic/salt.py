"""Cache salts: what keeps a run from finding blocks that somebody else left in the prefix cache.

vLLM mixes `cache_salt` into the first block's hash, so requests share blocks only under the same salt. One fresh salt
per pass over a recording isolates the pass (nothing is warm from before) and leaves caching on inside it. A fresh salt
per request leaves nothing to share at all: prefix caching switched off for this request, on a server that has it on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4


def fresh() -> str:
    """A salt that no request had before: 32 hex digits, which every engine accepts."""
    return uuid4().hex


@dataclass(frozen=True, kw_only=True)
class SaltPolicy:
    """The salt of each request of one pass. `per_request`: every request gets one of its own."""

    per_request: bool = False
    base: str = field(default_factory=fresh)

    def salt(self, turn: int) -> str:
        return f"{self.base}-{turn}" if self.per_request else self.base
