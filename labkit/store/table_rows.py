"""A few rows of a run's table, without reading the rest: a page about one agent wants no million chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from labkit.store.reader import Run
from labkit.store.tables import to_frame


def rows_where(run: Run, table: str, **one_of: Sequence[str]) -> pd.DataFrame:
    """The rows whose columns hold one of these values: `rows_where(run, "chunks", arm=["base"], agent=["0"])`."""
    wanted = pc.scalar(True)
    for name, values in one_of.items():
        wanted = wanted & pc.field(name).isin(pa.array(values, pa.string()))
    if path := run.parquet(table):
        return to_frame(pq.read_table(path, filters=wanted))
    return to_frame(run.arrow(table).filter(wanted))
