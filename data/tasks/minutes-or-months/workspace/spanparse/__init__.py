"""Durations as people write them: `1h30m`, `250ms`, `2d 4h`."""

from spanparse.format import format_span
from spanparse.parse import SpanError, parse_span
from spanparse.schedule import Schedule

__all__ = ["Schedule", "SpanError", "format_span", "parse_span"]
