"""Rows with a header become records: dicts from column name to value."""

from rowreader.dialect import COMMA
from rowreader.reader import ReadError, read_rows


def read_records(text, dialect=COMMA, convert=None):
    """The records of a text whose first row names the columns.

    `convert` maps a column to a function, such as `{"price": float}`; an empty field becomes None before it is asked.
    Raises ReadError when a row has another number of fields than the header.
    """
    rows = read_rows(text, dialect)
    if not rows:
        return []
    header, *body = rows
    records = []
    for number, row in enumerate(body, 2):
        if len(row) != len(header):
            raise ReadError(number, f"{len(row)} fields where the header has {len(header)}")
        records.append(_record(header, row, convert or {}))
    return records


def _record(header, row, convert):
    record = {}
    for name, value in zip(header, row):
        if value == "":
            record[name] = None
        elif name in convert:
            record[name] = convert[name](value)
        else:
            record[name] = value
    return record
