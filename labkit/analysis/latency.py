"""Times of steps and of the chunks within them.

Definitions, since tools disagree on them:

- TTFT: first event with any generated token (content, reasoning, tool call, or one that the engine's tool parser still
  holds back, seen by its token id) minus the send, at the client.
- ITL: the gap between successive *chunks* of one stream, pooled over all streams. Under speculation a chunk carries
  several tokens, so ITL is what a reader sees, not the time of a token.
- TPOT: (last token - first token) / (tokens - 1) of one step; it needs two tokens. TTFT is not in it.
- NTPOT: whole time / tokens of one step; it does not care how tokens came in chunks.
- Percentiles interpolate linearly between the two nearest values (numpy's default, Hyndman and Fan's type 7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.gaps import STREAM_KEY, gaps_of
from labkit.analysis.tables import Floats, floats, null_if_nan, numbers

__all__ = ["STREAM_KEY", "Spread", "e2e", "itl", "itl_by_arm", "itl_by_step", "itl_spreads", "ntpot", "percentile",
           "spread", "tpot", "ttft", "visible_ttft"]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How values lie. `n` counts what was measured; with n = 0 all else is None."""

    n: int
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


def percentile(values: Floats | pd.Series[float], q: float) -> float | None:
    """The q-th percentile (0 to 100) of what was measured; None when nothing was."""
    known = _known(values)
    return float(np.percentile(known, q)) if known.size else None


def spread(values: Floats | pd.Series[float]) -> Spread:
    """Count, mean, percentiles and maximum of what was measured."""
    known = _known(values)
    mean, top = (known.mean(), known.max()) if known.size else (np.nan, np.nan)
    at = {f"p{q}": percentile(known, q) for q in (50, 95, 99)}
    return Spread(n=known.size, mean=null_if_nan(mean), max=null_if_nan(top), **at)


def _known(values: Floats | pd.Series[float]) -> Floats:
    plain = floats(values)
    return np.asarray(plain[~np.isnan(plain)], dtype=np.float64)


def ttft(steps: pd.DataFrame) -> pd.Series[float]:
    """Time to first token in seconds, one value per step; NaN where no token came."""
    return _between(steps, "t_send", "t_first_token", "ttft_s")


def visible_ttft(steps: pd.DataFrame) -> pd.Series[float]:
    """Time to the first content or tool call in seconds, one value per step: reasoning is waited for."""
    return _between(steps, "t_send", "t_first_visible", "visible_ttft_s")


def e2e(steps: pd.DataFrame) -> pd.Series[float]:
    """Send to end of the response in seconds, one value per step; the tool's time is not in it."""
    return _between(steps, "t_send", "t_end", "e2e_s")


def tpot(steps: pd.DataFrame) -> pd.Series[float]:
    """Time per output token in seconds, one value per step; NaN for fewer than two tokens."""
    gaps = numbers(steps, "completion_tokens") - 1
    gaps[~(gaps > 0)] = np.nan
    return _between(steps, "t_first_token", "t_last", "tpot_s") / gaps


def ntpot(steps: pd.DataFrame) -> pd.Series[float]:
    """Whole time per output token in seconds, one value per step; NaN without a token."""
    tokens = numbers(steps, "completion_tokens")
    tokens[~(tokens > 0)] = np.nan
    return (e2e(steps) / tokens).rename("ntpot_s")


def _between(steps: pd.DataFrame, start: str, end: str, name: str) -> pd.Series[float]:
    return pd.Series(numbers(steps, end) - numbers(steps, start), index=steps.index, name=name)


def itl(chunks: pd.DataFrame) -> pd.DataFrame:
    """Every gap between successive chunks: STREAM_KEY, `index` of the later chunk, and `itl_s`."""
    gaps = gaps_of(chunks)
    table = chunks[[*STREAM_KEY, "index"]].take(gaps.rows)
    return table.assign(itl_s=gaps.itl_s).reset_index(drop=True)


def itl_by_step(chunks: pd.DataFrame) -> pd.DataFrame:
    """One row per stream with at least two chunks: STREAM_KEY, `n_gaps`, `itl_p50_s` and `itl_max_s`."""
    gaps = gaps_of(chunks)
    table = (
        pd.Series(gaps.itl_s).groupby(gaps.stream, sort=False).agg(n_gaps="size", itl_p50_s="median", itl_max_s="max")
    )
    first = gaps.rows[np.unique(gaps.stream, return_index=True)[1]]
    keys = chunks[STREAM_KEY].take(first).reset_index(drop=True)
    return pd.concat([keys, table.reset_index(drop=True)], axis=1)


def itl_by_arm(chunks: pd.DataFrame) -> dict[str, Floats]:
    """Arm to all its gaps between chunks (s), all streams pooled, in no order that matters."""
    gaps = gaps_of(chunks)
    arms = chunks["arm"].take(gaps.rows).astype("category").array
    return {str(arm): gaps.itl_s[arms.codes == code] for code, arm in enumerate(arms.categories)}


def itl_spreads(chunks: pd.DataFrame) -> dict[str, Spread]:
    """Arm to how its gaps lie; only arms that have one."""
    return {arm: spread(gaps) for arm, gaps in itl_by_arm(chunks).items() if gaps.size}
