"""What a book that comes back late costs."""

FREE_DAYS, CENTS_A_DAY, MOST_CENTS = 1, 20, 500


def late_fee(days_late):
    """Cents for a book that is `days_late` days late. The free days cost nothing; no fee is above MOST_CENTS."""
    if days_late <= FREE_DAYS:
        return 0
    return min(days_late * CENTS_A_DAY, MOST_CENTS)
