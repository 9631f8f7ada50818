"""The arms of a run side by side, as several commands print them: cold passes, and apart from them warm ones."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from rich.console import Console
from rich.text import Text

from labkit.cli.tables import arm_table_view
from labkit.core.records import Cache
from labkit.experiments.compared import Part, parts
from labkit.experiments.own_ways import same_requests
from labkit.experiments.view import arms_of_part
from labkit.store.runs import Run


def parts_of(run: Run) -> list[Part]:
    """The rows of the run that count, by cache state."""
    return parts(run.info, run.steps(), run.chunks())


def print_arms(run: Run, console: Console) -> dict[Cache, pd.DataFrame]:
    """Print a table for each cache state; returns their rows. Nothing where nothing was measured."""
    tables, paired = {}, same_requests(run.info, run.events())
    for part in titled(parts_of(run), console):
        tables[part.cache] = arms_of_part(part, paired)
        if len(tables[part.cache]):
            console.print(arm_table_view(tables[part.cache], console.width))
    return tables


def titled(found: list[Part], console: Console) -> Iterator[Part]:
    """Each part, after its name where there are several; with a line between two."""
    for number, part in enumerate(found):
        if number:
            console.print("")
        if part.name:
            console.print(Text(part.name.capitalize(), "bold underline"))
        yield part
