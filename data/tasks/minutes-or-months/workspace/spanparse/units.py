"""The units that a duration may be written in, and how long each is.

A unit has one short name, which is how durations are written, and some longer ones, which are only read. There are no
months and no years: their length depends on when they begin.
"""

SECONDS = {
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
}

LONG_NAMES = {
    "millisecond": "ms",
    "milliseconds": "ms",
    "sec": "s",
    "second": "s",
    "seconds": "s",
    "min": "m",
    "minute": "m",
    "minutes": "m",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
    "week": "w",
    "weeks": "w",
}


def short_name(name):
    """The short name of a unit, or None when there is no such unit."""
    name = name.lower()
    if name in SECONDS:
        return name
    return LONG_NAMES.get(name)


def largest_first():
    """The short names, the longest unit first."""
    return sorted(SECONDS, key=SECONDS.get, reverse=True)
