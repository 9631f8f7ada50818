"""Reading durations.

    span   ::= sign? part (space* part)*
    part   ::= number space? unit
    number ::= digits ('.' digits)?

A number without a unit is taken as seconds when it stands alone: `90` is a minute and a half.
"""

import re

from spanparse.units import SECONDS, short_name

_PART = re.compile(r"\s*([+-]?)(\d+)\s*([a-z])[a-z]*", re.IGNORECASE)
_ALONE = re.compile(r"[+-]?\d+(\.\d+)?$")


class SpanError(ValueError):
    """A text that is not a duration; says where reading stopped."""

    def __init__(self, text, position, reason):
        super().__init__(f"{text!r} is not a duration: {reason} at position {position}")
        self.text = text
        self.position = position


def parse_span(text):
    """Seconds of a duration as a float.

    `parse_span("1h30m") == 5400.0`. Raises SpanError for anything that is not one duration from start to end.
    """
    stripped = text.strip()
    if not stripped:
        raise SpanError(text, 0, "it is empty")
    if _ALONE.match(stripped):
        return float(stripped)
    total = 0.0
    position = 0
    while position < len(stripped):
        match = _PART.match(stripped, position)
        if match is None:
            raise SpanError(text, position, "a number with a unit is expected")
        sign, number, name = match.groups()
        total += _seconds(text, position, sign, number, name)
        position = match.end()
    return total


def _seconds(text, position, sign, number, name):
    unit = short_name(name)
    if unit is None:
        raise SpanError(text, position, f"there is no unit {name!r}")
    value = float(number) * SECONDS[unit]
    return -value if sign == "-" else value
