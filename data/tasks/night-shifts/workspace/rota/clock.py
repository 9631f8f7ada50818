"""Times of day as minutes since midnight."""

DAY = 24 * 60


def minutes(text):
    """`07:30` as 450."""
    hours, _, rest = text.partition(":")
    value = int(hours) * 60 + int(rest)
    if not 0 <= value < DAY:
        raise ValueError(f"not a time of day: {text!r}")
    return value


def span(start, end):
    """Minutes from `start` to `end`; an end before the start is on the next day."""
    return minutes(end) - minutes(start)
