"""How values lie, in the words that AIPerf and llm-d share; percentiles interpolate linearly between neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def spread(values: Iterable[float], percentiles: Sequence[int]) -> dict[str, float]:
    """`mean`, `std` (of these values, not of a sample), `min`, `max`, `sum` and `p<q>`; empty without values."""
    known = np.fromiter(values, dtype=np.float64)
    if not known.size:
        return {}
    at = dict(zip((f"p{q}" for q in percentiles), np.percentile(known, percentiles).tolist(), strict=True))
    plain = {"mean": known.mean(), "std": known.std(), "min": known.min(), "max": known.max(), "sum": known.sum()}
    return {**{name: float(value) for name, value in plain.items()}, **at}
