"""How a file is written: which character separates, which one quotes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """`delimiter` between fields, `quote` around a field that contains one of the special characters."""

    delimiter: str = ","
    quote: str = '"'

    def __post_init__(self):
        for name in ("delimiter", "quote"):
            value = getattr(self, name)
            if len(value) != 1 or value in "\r\n":
                raise ValueError(f"{name} must be one character, not {value!r}")
        if self.delimiter == self.quote:
            raise ValueError("delimiter and quote must differ")


COMMA = Dialect()
SEMICOLON = Dialect(delimiter=";")
TAB = Dialect(delimiter="\t")


def guess(first_line):
    """The dialect whose delimiter is most frequent in the first line; a comma when there is none."""
    known = (COMMA, SEMICOLON, TAB)
    return max(known, key=lambda dialect: first_line.count(dialect.delimiter))
