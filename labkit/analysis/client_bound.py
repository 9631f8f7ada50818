"""Whether the client, and not the engine, set the times of a run. Each threshold says why it is where it is.

The client stamps a chunk when its event loop comes to it, so what keeps the loop busy is an error of every time. On a
small machine the client shares its cores with the engine, and on a fast engine it cannot keep up with the chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from labkit.analysis.format import DASH, percent, plain
from labkit.analysis.latency import STREAM_KEY, itl, percentile, ttft
from labkit.analysis.loop_lag import loop_lags, while_steps_ran
from labkit.analysis.tables import Floats, is_finished, measured, numbers
from labkit.core.records import Record

SHARE: Final = 0.05
"""Of a median: an error of a twentieth is as large as effects that the lab is asked to see."""
TAIL_SHARE: Final = 0.10
"""Of a p99: tails of the same setting differ by about a tenth from run to run; a smaller error hides nothing."""
SEND_LAG_S: Final = 0.050
"""A request that leaves this late was held up by the client, and the load is not the one that was asked for."""
CORES: Final = 0.8
"""One thread runs Python at a time: near one core everything waits for everything else."""


@dataclass(frozen=True, kw_only=True)
class ClientVerdict(Record):
    """`bound`: some threshold was crossed; `why`: which, in words. None: not measured.

    p99s: over measured steps (send lag; parsing, per chunk), and over the loop's ticks while they ran. `client_cores`:
    the client's own CPU, mean while they ran. p50s: the same, to show beside them.
    """

    bound: bool
    why: tuple[str, ...] = ()
    send_lag_p50_s: float | None = None
    send_lag_p99_s: float | None = None
    loop_lag_p50_s: float | None = None
    loop_lag_p99_s: float | None = None
    parse_p50_s: float | None = None
    parse_p99_s: float | None = None
    client_cores: float | None = None

    def in_words(self) -> str:
        """Why the times are not the engine's alone, one sentence without its stop; empty when nothing was crossed."""
        return f"client-bound: {'; '.join(self.why)}: the times are not the engine's alone" if self.bound else ""

    def described(self) -> str:
        """The client in a line: median and p99 of what delays its stamps, and its CPU."""
        pairs = (("loop lag", "loop_lag"), ("send lag", "send_lag"), ("parsing a chunk", "parse"))
        said = [f"{name} {_pair(self, key)}" for name, key in pairs]
        return ", ".join([*said, f"{plain(self.client_cores)} cores"])


def client_bound(steps: pd.DataFrame, chunks: pd.DataFrame, samples: pd.DataFrame) -> ClientVerdict:
    """The verdict on one run. `samples`: its telemetry; what the client says of itself is picked out."""
    kept = measured(steps)
    lags, parsing = numbers(kept, "send_lag_s"), _parse_per_chunk(kept, chunks)
    mine = while_steps_ran(samples[samples["source"] == "client"], kept)
    loop = loop_lags(mine)
    cores = numbers(mine[mine["name"] == "cpu"], "value")
    seen = {
        "send_lag_p50_s": percentile(lags, 50),
        "send_lag_p99_s": percentile(lags, 99),
        "loop_lag_p50_s": percentile(loop, 50),
        "loop_lag_p99_s": percentile(loop, 99),
        "parse_p50_s": percentile(parsing, 50),
        "parse_p99_s": percentile(parsing, 99),
        "client_cores": None if np.isnan(cores).all() else float(np.nanmean(cores)),
    }
    gaps = itl(measured(chunks))["itl_s"]
    first = percentile(ttft(kept[is_finished(kept)]), 50)
    why = tuple(_why(seen, percentile(gaps, 50), percentile(gaps, 99), first))
    return ClientVerdict(bound=bool(why), why=why, **seen)


def _why(
    seen: dict[str, float | None], gap: float | None, long_gap: float | None, first: float | None
) -> Iterator[str]:
    """The thresholds that were crossed, in words. What was not measured crosses none."""
    median, tail = "the median gap between chunks", "the p99 gap between chunks"
    yield from _over("event loop late by", seen["loop_lag_p50_s"], "median", SHARE, gap, median)
    yield from _over("event loop late by", seen["loop_lag_p99_s"], "p99", TAIL_SHARE, long_gap, tail)
    yield from _over("parsing a chunk takes", seen["parse_p99_s"], "p99", SHARE, gap, median)
    yield from _over("requests sent late by", seen["send_lag_p99_s"], "p99", SHARE, first, "the median TTFT")
    send, cores = seen["send_lag_p99_s"], seen["client_cores"]
    if send is not None and send > SEND_LAG_S:
        yield f"requests sent late by {_ms(send)} (p99)"
    if cores is not None and cores > CORES:
        yield f"the client used {cores:.2f} of the one core that Python has"


def _over(what: str, seconds: float | None, at: str, share: float, whole: float | None, of: str) -> Iterator[str]:
    """The sentence, when `seconds` are more than this share of the whole."""
    if seconds is not None and whole and seconds > share * whole:
        yield f"{what} {_ms(seconds)} ({at}), {percent(seconds / whole)} of {of} ({_ms(whole)})"


def _pair(verdict: ClientVerdict, key: str) -> str:
    """`0.2 / 1.3 ms`; dashes where nothing was measured."""
    both: tuple[float | None, float | None] = (getattr(verdict, f"{key}_p50_s"), getattr(verdict, f"{key}_p99_s"))
    return " / ".join(DASH if each is None else f"{1000 * each:.2g}" for each in both) + " ms"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"


def _parse_per_chunk(steps: pd.DataFrame, chunks: pd.DataFrame) -> Floats:
    """Seconds of parsing per chunk, one value per step that had chunks."""
    if not len(steps):
        return np.zeros(0)
    count = measured(chunks).groupby(STREAM_KEY).size()
    mine = pd.MultiIndex.from_frame(steps[STREAM_KEY])
    return numbers(steps, "parse_s") / np.asarray(count.reindex(mine), dtype=np.float64)
