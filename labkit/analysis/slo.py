"""What is asked of every request, and of how many of them: a service level objective."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.core.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class Slo:
    """What every request should keep (seconds), and the share of requests that must. Raises BadInput.

    `tpot_s`: time per generated token; None: not asked.
    """

    ttft_s: float
    itl_s: float
    share: float = 0.9
    tpot_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("ttft_s", "itl_s", "tpot_s"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise BadInput(name, getattr(self, name), "a number of seconds above 0")
        if not 0 < self.share < 1:
            raise BadInput("share", self.share, "a share between 0 and 1, such as 0.9")

    @property
    def asked(self) -> str:
        """What is asked of a request: `TTFT <= 3 s and ITL p99 <= 0.5 s`."""
        words = [f"TTFT <= {self.ttft_s:g} s", f"ITL p99 <= {self.itl_s:g} s"]
        if self.tpot_s is not None:
            words.insert(1, f"TPOT <= {self.tpot_s:g} s")
        return f"{', '.join(words[:-1])} and {words[-1]}"

    def __str__(self) -> str:
        return f"{self.asked} for {100 * self.share:g} % of the requests sent"
