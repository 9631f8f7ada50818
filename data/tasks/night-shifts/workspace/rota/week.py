"""A week from Monday to Sunday and who worked in it."""

from datetime import timedelta


def monday(day):
    """The Monday of the week of `day`."""
    return day - timedelta(days=(day.weekday() + 1) % 7)


class Week:
    """The shifts of the week of `day`; a clash is refused."""

    def __init__(self, day):
        self.first = monday(day)
        self.shifts = []

    def add(self, shift):
        if monday(shift.day) != self.first:
            raise ValueError(f"{shift.day} is another week")
        for other in self.shifts:
            if shift.clashes(other):
                raise ValueError(f"{shift.who} is at work then")
        self.shifts.append(shift)

    def hours(self):
        """Paid hours by person."""
        total = {}
        for shift in self.shifts:
            total[shift.who] = total.get(shift.who, 0) + shift.paid
        return {who: paid / 60 for who, paid in total.items()}
