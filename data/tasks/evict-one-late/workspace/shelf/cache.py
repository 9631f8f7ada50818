"""The cache itself: least recently used entries leave first.

Entries live in an OrderedDict whose order is the order of use: the first entry is the one that was not used for the
longest time. An entry may also grow too old; it is then dropped when somebody asks for it, or when `expire` sweeps.
"""

import time
from collections import OrderedDict

from shelf.stats import Stats

_MISSING = object()


class Cache:
    """At most `capacity` entries, each for at most `ttl` seconds (None: for ever).

    `clock` returns seconds and is there so that tests need not sleep.
    """

    def __init__(self, capacity, ttl=None, clock=time.monotonic):
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self.capacity = capacity
        self.ttl = ttl
        self.stats = Stats()
        self._clock = clock
        self._entries = OrderedDict()

    def __len__(self):
        return len(self._entries)

    def __contains__(self, key):
        return self._fresh(key) is not _MISSING

    def keys(self):
        """The keys, least recently used first."""
        return list(self._entries)

    def get(self, key, default=None):
        """The value of `key`, or `default`. Reading counts as using."""
        value = self._fresh(key)
        if value is _MISSING:
            self.stats.misses += 1
            return default
        self.stats.hits += 1
        return value

    def put(self, key, value):
        """Store a value; makes room when the cache is full."""
        if key in self._entries:
            del self._entries[key]
        self._entries[key] = (value, self._clock())
        while len(self._entries) >= self.capacity:
            self._entries.popitem(last=False)
            self.stats.evictions += 1

    def delete(self, key):
        """Forget a key. Says whether it was there."""
        return self._entries.pop(key, None) is not None

    def expire(self):
        """Drop every entry that is too old; returns how many were dropped."""
        old = [key for key in self._entries if self._fresh(key, drop=False) is _MISSING]
        for key in old:
            del self._entries[key]
        self.stats.expirations += len(old)
        return len(old)

    def _fresh(self, key, drop=True):
        """The value if there is one and it is not too old."""
        if key not in self._entries:
            return _MISSING
        value, stored = self._entries[key]
        if self.ttl is None or self._clock() - stored < self.ttl:
            return value
        if drop:
            del self._entries[key]
            self.stats.expirations += 1
        return _MISSING
