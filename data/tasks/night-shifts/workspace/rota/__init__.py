"""The hours of a week, by person."""

from rota.clock import minutes, span
from rota.shift import Shift
from rota.week import Week

__all__ = ["Shift", "Week", "minutes", "span"]
