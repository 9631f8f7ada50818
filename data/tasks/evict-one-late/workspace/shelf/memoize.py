"""Remember what a function returned."""

import functools

from shelf.cache import Cache

_NOTHING = object()


def memoize(capacity=128, ttl=None):
    """A decorator that keeps the last results of a function, by its arguments.

    The arguments must be hashable. The function gets two helpers: `cache` (the Cache) and `forget()` (empty it).

        @memoize(capacity=32, ttl=60)
        def price_of(article): ...
    """

    def decorate(function):
        cache = Cache(capacity, ttl)

        @functools.wraps(function)
        def remembered(*args, **kwargs):
            key = (args, tuple(sorted(kwargs.items())))
            value = cache.get(key, _NOTHING)
            if value is _NOTHING:
                value = function(*args, **kwargs)
                cache.put(key, value)
            return value

        remembered.cache = cache
        remembered.forget = lambda: [cache.delete(key) for key in cache.keys()]
        return remembered

    return decorate
