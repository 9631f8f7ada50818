"""Reading rows, one character at a time.

The rules are those of RFC 4180: a field may stand in quotes; inside quotes the delimiter and line breaks are ordinary
characters, and two quotes mean one. A line break ends the row; the last line need not have one.
"""

from rowreader.dialect import COMMA


class ReadError(ValueError):
    """A text that breaks the rules; `line` counts from 1."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line


def read_rows(text, dialect=COMMA):
    """The rows of a text, each a list of strings. Empty lines are skipped."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if line:
            rows.append(_split(line, number, dialect))
    return rows


def _split(line, number, dialect):
    """The fields of one line."""
    fields = []
    field = ""
    quoted = False
    for character in line:
        if character == dialect.quote:
            quoted = not quoted
        elif character == dialect.delimiter and not quoted:
            fields.append(field)
            field = ""
        else:
            field += character
    if field:
        fields.append(field)
    return fields
