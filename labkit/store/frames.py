"""Many runs as one table, in SQL: DuckDB over the Parquet of ended runs and the events of the others.

    query(store, "select arm, median(t_first_token - t_send) from steps where not warmup group by arm")

Views: `steps`, `chunks`, `telemetry` (columns as their records declare them; `run` tells runs apart) and `runs` (id,
experiment, created, state, note). A run whose folder somebody copied is in them once. SQL reads these and nothing else
of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from labkit.core.errors import BadInput
from labkit.store.runs import Run, RunStore
from labkit.store.tables import TABLES, schema_of, to_frame

_RUN_COLUMNS = ("id", "experiment", "created", "state", "note")


def query(store: RunStore, sql: str, parameters: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """The answer to `sql` over all runs of `store` that open. `parameters`: values for `$name` in the SQL.

    Raises BadInput with DuckDB's words when the SQL is wrong.
    """
    with duckdb.connect() as database:
        runs = once(store.runs())
        _add_views(database, runs)
        try:
            return database.execute(sql, dict(parameters or {})).df()
        except duckdb.Error as error:
            raise BadInput("sql", sql, f"DuckDB SQL over {', '.join(TABLES)} and runs", str(error)) from error


def all_steps(store: RunStore) -> pd.DataFrame:
    """The steps of every run that opens, oldest run first; columns as StepRecord declares them."""
    tables = [run.arrow("steps") for run in reversed(once(store.runs()))]
    return to_frame(pa.concat_tables(tables) if tables else schema_of("steps").empty_table())


def once(runs: Sequence[Run]) -> list[Run]:
    """The runs without copies of them, in their order; where a folder has the run's own name, it is that one."""
    own = {run.id: run for run in reversed(runs)} | {run.id: run for run in runs if run.folder.name == run.id}
    return [run for run in runs if own[run.id] is run]


def _add_views(database: duckdb.DuckDBPyConnection, runs: Sequence[Run]) -> None:
    database.register("runs", pa.Table.from_pylist(_about(runs), pa.schema([(n, pa.string()) for n in _RUN_COLUMNS])))
    for table in TABLES:
        database.register(table, _dataset(runs, table))
    # From here on SQL reads the runs' own tables and no file; within the connection this cannot be undone.
    database.execute("set enable_external_access = false")
    database.execute("set lock_configuration = true")


def _dataset(runs: Sequence[Run], table: str) -> ds.Dataset:
    """Parquet files that DuckDB reads column by column, and beside them what exists only as events."""
    schema = schema_of(table)
    files = [str(path) for run in runs if (path := run.parquet(table))]
    others = [run.arrow(table) for run in runs if run.parquet(table) is None]
    in_memory = ds.dataset(pa.concat_tables([schema.empty_table(), *others]))
    return ds.dataset([ds.dataset(files, schema=schema, format="parquet"), in_memory]) if files else in_memory


def _about(runs: Sequence[Run]) -> list[dict[str, str]]:
    infos = [run.info for run in runs]
    return [{name: str(getattr(info, name)) for name in _RUN_COLUMNS} for info in infos]
