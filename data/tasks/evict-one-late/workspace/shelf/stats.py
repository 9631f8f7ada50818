"""Counters of what a cache did."""

from dataclasses import dataclass


@dataclass
class Stats:
    """How often a cache hit, missed, evicted for room and expired for age."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    expirations: int = 0

    @property
    def lookups(self):
        return self.hits + self.misses

    @property
    def hit_rate(self):
        """Hits per lookup; None before the first lookup."""
        return self.hits / self.lookups if self.lookups else None

    def reset(self):
        """Start counting anew."""
        self.hits = self.misses = self.evictions = self.expirations = 0

    def line(self):
        """One line for a log."""
        rate = "-" if self.hit_rate is None else f"{self.hit_rate:.0%}"
        return f"hits={self.hits} misses={self.misses} rate={rate} evicted={self.evictions} expired={self.expirations}"
