"""What is asked of every request, and of how many of them: a service level objective."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.core.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class Slo:
    """What every request should keep (seconds), and the share of requests that must. Raises BadInput."""

    ttft_s: float
    itl_s: float
    share: float = 0.9

    def __post_init__(self) -> None:
        for name in ("ttft_s", "itl_s"):
            if not getattr(self, name) > 0:
                raise BadInput(name, getattr(self, name), "a number of seconds above 0")
        if not 0 < self.share < 1:
            raise BadInput("share", self.share, "a share between 0 and 1, such as 0.9")

    def __str__(self) -> str:
        kept = f"TTFT <= {self.ttft_s:g} s and ITL p99 <= {self.itl_s:g} s"
        return f"{kept} for {100 * self.share:g} % of the requests sent"
