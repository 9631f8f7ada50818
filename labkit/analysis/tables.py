"""Declared tables in, declared tables out: how analysis reads columns that may be null, and types what it returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from labkit.core.columns import columns_of
from labkit.core.records import Record

Floats = npt.NDArray[np.float64]

STEP_KEY = ["task", "recording", "agent", "condition", "cache", "repeat", "turn"]
"""What makes steps of different arms a pair: the same request in the same pass."""


def numbers(frame: pd.DataFrame, column: str) -> Floats:
    """A column as floats, null as NaN, whatever dtype it came with."""
    return floats(frame[column])


def floats(values: Floats | pd.Series[float]) -> Floats:
    """Any series or array of numbers as floats, null as NaN."""
    series = pd.Series(values)
    if series.dtype != np.float64 and series.dtype != pd.Int64Dtype():  # the usual ones need no look at each value
        series = pd.to_numeric(series).astype("Float64")
    return np.array(series.to_numpy(dtype="float64", na_value=np.nan), dtype=np.float64)


def measured(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: warm-up thrown away."""
    return frame[~frame["warmup"].astype(bool)]


def is_finished(steps: pd.DataFrame) -> pd.Series[bool]:
    """Which steps got a whole answer: an end and no error."""
    return steps["error"].isna() & steps["t_end"].notna()


def null_if_nan(value: float) -> float | None:
    """NaN means "not measured", which a record says with None."""
    return None if np.isnan(value) else float(value)


def total(values: Floats) -> float | None:
    """Sum of what was measured; None when nothing was."""
    known = values[~np.isnan(values)]
    return float(known.sum()) if known.size else None


def total_tokens(values: Floats) -> int | None:
    """Sum of the token counts that were reported; None when none was."""
    tokens = total(values)
    return None if tokens is None else round(tokens)


def share(part: Floats, whole: Floats) -> float | None:
    """Sum of `part` over sum of `whole`, on the rows that have both: weighted by `whole`, not a mean of rates."""
    both = ~(np.isnan(part) | np.isnan(whole))
    denominator = whole[both].sum()
    return float(part[both].sum() / denominator) if denominator > 0 else None


def typed_frame(record: type[Record], rows: Sequence[Record]) -> pd.DataFrame:
    """Rows as the record's columns declare them: `string`, `bool`, `float64` (NaN is null), `int64` or `Int64`."""
    columns = columns_of(record)
    frame = pd.DataFrame([row.to_dict() for row in rows], columns=[c.name for c in columns])
    return frame.astype({c.name: "Int64" if c.dtype == "int64" and c.nullable else c.dtype for c in columns})
