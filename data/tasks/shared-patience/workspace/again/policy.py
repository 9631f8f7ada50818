"""What counts as a failure that is worth another attempt."""

from dataclasses import dataclass

from again.backoff import Backoff


@dataclass(frozen=True)
class Policy:
    """`attempts` calls in all, the first included; only exceptions of the types in `on` are repeated.

    `budget` limits the seconds that are spent on waiting (None: no limit).
    """

    attempts: int = 3
    on: tuple = (OSError, TimeoutError)
    first: float = 0.1
    factor: float = 2.0
    longest: float = 30.0
    jitter: float = 0.0
    budget: float | None = None

    def __post_init__(self):
        if self.attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {self.attempts}")

    def backoff(self):
        """A fresh Backoff with the numbers of this policy."""
        return Backoff(self.first, self.factor, self.longest, self.jitter)

    def repeats(self, error):
        """Whether this error is worth another attempt."""
        return isinstance(error, self.on)


ONCE = Policy(attempts=1)
PATIENT = Policy(attempts=8, longest=60.0)
