"""Which salt a pass is sent with: what makes it cold or warm."""

from __future__ import annotations

from dataclasses import dataclass, field

from labkit.core.errors import BadInput
from labkit.experiments.design import Pass
from labkit.traffic.salt import SaltPolicy


@dataclass
class Salts:
    """The salts of one block. A cold pass gets a fresh one; a warm pass that of the cold one before it.

    `per_request`: prefix caching is switched off by salts, so that a warm pass, too, must find nothing.
    """

    per_request: bool = False
    _last: dict[tuple[str, str], str] = field(default_factory=dict)

    def primed(self, each: Pass) -> bool:
        """Whether the pass can be made as it is: a warm one needs the salt of the cold one before it."""
        return each.cache == "cold" or self._key(each) in self._last

    def of(self, each: Pass) -> SaltPolicy:
        """The policy of this pass. Raises BadInput for a warm pass without a cold one before it."""
        key = self._key(each)
        if each.cache == "cold" or self.per_request:
            policy = SaltPolicy(per_request=self.per_request)
            self._last[key] = policy.base
            return policy
        if key not in self._last:
            raise BadInput("cache", "warm", "a cold pass of the same recording first")
        return SaltPolicy(base=self._last[key])

    @staticmethod
    def _key(each: Pass) -> tuple[str, str]:
        return each.recording.header.name, each.condition
