"""Comma separated values, read into rows or records and summarised."""

from rowreader.reader import ReadError, read_rows
from rowreader.records import read_records
from rowreader.summary import summarise

__all__ = ["ReadError", "read_records", "read_rows", "summarise"]
