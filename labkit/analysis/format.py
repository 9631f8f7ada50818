"""Numbers as people read them, the same in the terminal and in the app. "Not measured" is a dash, never a 0."""

from __future__ import annotations

import math

import pandas as pd

DASH = "–"
Number = float | int | None


def missing(value: object) -> bool:
    """Whether a value is "not measured": None, NaN or NA."""
    return value is None or bool(pd.isna(value))  # type: ignore[call-overload]


def _digits(value: float) -> str:
    """Three significant digits, all digits before the point kept."""
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def seconds(value: Number) -> str:
    """`12.3 s`, `450 ms` below a second, `0.25 ms`."""
    if value is None or missing(value):
        return DASH
    return f"{_digits(value)} s" if abs(value) >= 0.9995 else f"{_digits(value * 1000)} ms"


def seconds_alike(*values: Number) -> tuple[tuple[str, ...], str]:
    """Several times in one unit, that of the largest: `(("212", "600"), "ms")`. Without any: dashes and no unit."""
    known = [abs(value) for value in values if value is not None and not missing(value)]
    if not known:
        return tuple(DASH for _ in values), ""
    unit, factor = ("s", 1) if max(known) >= 0.9995 else ("ms", 1000)
    return tuple(plain(None if value is None or missing(value) else value * factor) for value in values), unit


def count(value: Number) -> str:
    """`950`, `9.9k`, `132k`, `4.5M`."""
    if value is None or missing(value):
        return DASH
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size * 0.9995:
            return f"{value / size:,.{0 if abs(value) >= size * 99.95 else 1}f}{suffix}"
    return f"{value:,.0f}"


def percent(value: Number) -> str:
    """A share from 0 to 1 as `85 %`; one digit more below 10 %."""
    if value is None or missing(value):
        return DASH
    digits = 0 if value == 0 or abs(value) >= 0.0995 else 1
    return f"{value * 100:.{digits}f} %"


def times(value: Number) -> str:
    """A ratio as `2.31x`."""
    return DASH if value is None or missing(value) else f"{_digits(value)}x"


def plain(value: Number) -> str:
    """A number without a unit: `3.12`."""
    return DASH if value is None or missing(value) else _digits(value)


def usd(value: Number) -> str:
    """Money in three significant digits: `$20.7`, `$0.00123`, `$1,300`; below a millionth of a dollar `$4.2e-08`."""
    if value is None or missing(value):
        return DASH
    if value == 0 or abs(value) >= 0.9995:
        return f"${_digits(value)}"
    return f"${value:.1e}" if abs(value) < 1e-6 else f"${value:.{2 - math.floor(math.log10(abs(value)))}f}"


def joules(value: Number) -> str:
    """`950 J`, `12.3 kJ`."""
    if value is None or missing(value):
        return DASH
    return f"{_digits(value / 1000)} kJ" if abs(value) >= 999.5 else f"{_digits(value)} J"
