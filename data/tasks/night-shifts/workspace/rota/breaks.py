"""Breaks are not paid: half an hour over six hours, a whole one over nine."""

RULES = ((9 * 60, 60), (6 * 60, 30))


def unpaid(length):
    """Minutes of break in a shift of this length."""
    for limit, minutes in RULES:
        if length >= limit:
            return minutes
    return 0
