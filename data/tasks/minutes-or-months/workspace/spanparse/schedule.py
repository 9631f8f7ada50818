"""What runs when: jobs with a period each."""

from spanparse.format import format_span
from spanparse.parse import parse_span


class Schedule:
    """Jobs by name, each with a first time and a period in seconds."""

    def __init__(self):
        self._jobs = {}

    def add(self, name, every, first="0s"):
        """Add a job that runs every `every`, for the first time after `first` (durations as text)."""
        period = parse_span(every)
        if period <= 0:
            raise ValueError(f"the period of {name} must be positive, not {every}")
        self._jobs[name] = (parse_span(first), period)

    def due(self, start, end):
        """The (time, name) pairs with start <= time < end, in order."""
        found = []
        for name, (first, period) in self._jobs.items():
            time = first
            while time < end:
                if time >= start:
                    found.append((time, name))
                time += period
        return sorted(found)

    def describe(self):
        """One line for each job."""
        return [f"{name}: every {format_span(period)}" for name, (_, period) in sorted(self._jobs.items())]
