"""How long to wait before the next attempt.

The wait starts at `first` seconds and is multiplied by `factor` after each failure, up to `longest`. With `jitter` each
wait is spread by that share in both directions, so that many callers do not come back at the same moment; the limit
holds for the spread wait as well.
"""

import random


class Backoff:
    """Waits of one job. `history` holds the waits that were handed out."""

    def __init__(self, first=0.1, factor=2.0, longest=30.0, jitter=0.0, history=[], random=random.random):
        if first <= 0 or factor < 1:
            raise ValueError("first must be positive and factor at least 1")
        if not 0 <= jitter < 1:
            raise ValueError(f"jitter must be at least 0 and less than 1, not {jitter}")
        self.first = first
        self.factor = factor
        self.longest = longest
        self.jitter = jitter
        self.history = history
        self._random = random

    def next(self):
        """The next wait in seconds."""
        wait = min(self.first, self.longest) * self.factor ** len(self.history)
        if self.jitter:
            wait *= 1 + self.jitter * (2 * self._random() - 1)
        self.history.append(wait)
        return wait

    @property
    def total(self):
        """Seconds waited so far."""
        return sum(self.history)

    def reset(self):
        """Begin anew, as after a success."""
        self.history.clear()
