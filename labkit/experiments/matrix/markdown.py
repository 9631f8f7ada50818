"""A matrix in Markdown, and into a document between its markers.

    <!-- matrix:begin cpu-smollm2 -->
    ...
    <!-- matrix:end -->

What a document says does not depend on whose machine wrote it: take a matrix that was made without a store.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from labkit.core.errors import BadInput, LabError
from labkit.experiments.matrix.records import Known, KnownCell, KnownTable
from labkit.experiments.matrix.words import columns, counted, how_far, note, notes, rows, short, title

_MARKED = re.compile(r"(<!-- matrix:begin (?P<profile>\S+) -->\n).*?(<!-- matrix:end -->)", re.DOTALL)


def as_markdown(known: Known) -> str:
    """Tables, notes, counts and how far acceptance goes; ends with a newline."""
    numbers = notes(known.cells)
    tables = [f"**{title(table)}**\n\n{_table(table, numbers)}" for table in known.tables]
    below = "\n".join(f"{number}. {_line(text)}" for text, number in numbers.items())
    return "\n\n".join(filter(None, [*tables, below, f"{counted(known)}. {how_far(known)}"])) + "\n"


def _table(table: KnownTable, numbers: dict[str, int]) -> str:
    heads = ["arm", *columns(table)]
    lines = [heads, ["---"] * len(heads)]
    for arm, cells in rows(table).items():
        lines.append([arm, *(_cell(cells.get(column), numbers) for column in heads[1:])])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: KnownCell | None, numbers: dict[str, int]) -> str:
    """Empty where the arm has no such cell."""
    if cell is None:
        return ""
    number = numbers.get(note(cell))
    return f"{short(cell)} [{number}]" if number else short(cell)


def _line(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


def profiles_in(text: str) -> list[str]:
    """Profiles whose markers are in a document, in their order."""
    return [match["profile"] for match in _MARKED.finditer(text)]


def with_matrices(text: str, made: Callable[[str], str]) -> str:
    """The document with what `made` gives for the profile between each pair of markers."""
    return _MARKED.sub(lambda match: f"{match[1]}{made(match['profile'])}{match[3]}", text)


def write_between_markers(path: Path, made: Callable[[str], str]) -> list[str]:
    """Write the document anew; the profiles that were found in it. Raises BadInput where there is no marker."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror}", "Name a Markdown file that is there.") from error
    found = profiles_in(text)
    if not found:
        raise BadInput(str(path), "no markers", "<!-- matrix:begin PROFILE --> and <!-- matrix:end --> on their lines")
    path.write_text(with_matrices(text, made), encoding="utf-8")
    return found
