"""One person at work, from one time to another."""

from dataclasses import dataclass
from datetime import date

from rota.breaks import unpaid
from rota.clock import DAY, minutes, span


@dataclass(frozen=True)
class Shift:
    """`day`: the day on which it starts."""

    who: str
    day: date
    start: str
    end: str

    @property
    def paid(self):
        """Minutes that are paid."""
        length = span(self.start, self.end)
        return length - unpaid(length)

    @property
    def first(self):
        """Minutes since the first of all days."""
        return self.day.toordinal() * DAY + minutes(self.start)

    @property
    def last(self):
        return self.first + span(self.start, self.end)

    def clashes(self, other):
        """Whether the two share a minute of one person."""
        same = self.who == other.who
        return same and self.first <= other.last and other.first <= self.last
