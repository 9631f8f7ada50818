"""A small in-memory cache: a size limit, a time to live, and counters."""

from shelf.cache import Cache
from shelf.memoize import memoize
from shelf.stats import Stats

__all__ = ["Cache", "Stats", "memoize"]
