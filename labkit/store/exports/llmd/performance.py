"""Requests of one cell, by the report's words.

- TTFT: first generated token of any kind, as the lab has it. Request latency: send to the end of the response.
- TPOT: (request latency - TTFT) / (output tokens - 1), as vLLM's and inference-perf's. The lab's own ends with the last
  token instead.
- NTPOT: request latency / output tokens.
- ITL: gaps between the chunks of all streams, pooled; under speculation a chunk carries several tokens.

Distributions are over requests that went well; a failed one is in `total` and in `failures` or `incomplete`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from labkit.store.exports.files import known
from labkit.store.exports.requests import Request, undisturbed
from labkit.store.exports.spread import spread

_PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)


def statistics(values: Iterable[float], units: str) -> dict[str, Any] | None:
    """The report's Statistics; None without a value. A single one has no deviation."""
    told = spread(values, _PERCENTILES)
    if not told:
        return None
    del told["sum"]
    return {"units": units, "mean": told.pop("mean"), "stddev": told.pop("std"), **told}


def request_performance(mine: Sequence[Request], everyone: Sequence[Request]) -> dict[str, Any]:
    """Counts, latencies and, where no other cell's request ran in between, rates."""
    done = [request for request in mine if request.problem is None]
    return known({
        "requests": _requests(mine, done),
        "latency": known(_latency(done)) or None,
        "throughput": _throughput(done, mine) if undisturbed(mine, everyone) else None,
    })  # fmt: skip


def _requests(mine: Sequence[Request], done: Sequence[Request]) -> dict[str, Any]:
    values = {
        "total": len(mine),
        "failures": sum(request.step.error is not None for request in mine),
        "incomplete": sum(request.step.error is None and request.step.t_end is None for request in mine),
        "input_length": statistics(counted(done, "prompt_tokens"), "count"),
        "output_length": statistics(counted(done, "completion_tokens"), "count"),
    }
    return known(values)


def counted(requests: Sequence[Request], name: str) -> Iterator[int]:
    """A token count of the requests that reported it."""
    return (value for request in requests if (value := getattr(request.step, name)) is not None)


def _latency(done: Sequence[Request]) -> dict[str, Any]:
    return {
        "time_to_first_token": statistics((t for r in done if (t := _ttft(r)) is not None), "s"),
        "normalized_time_per_output_token": statistics(
            (_e2e(r) / n for r in done if (n := r.step.completion_tokens)), "s/token"
        ),
        "time_per_output_token": statistics((t for r in done if (t := _tpot(r)) is not None), "s/token"),
        "inter_token_latency": statistics(_gaps(done), "s/token"),
        "request_latency": statistics((_e2e(r) for r in done), "s"),
    }


def _ttft(request: Request) -> float | None:
    step = request.step
    return None if step.t_first_token is None else step.t_first_token - step.t_send


def _e2e(request: Request) -> float:
    return request.t_over - request.step.t_send


def _tpot(request: Request) -> float | None:
    """None for fewer than two tokens."""
    ttft, tokens = _ttft(request), request.step.completion_tokens or 0
    return None if ttft is None or tokens < 2 else (_e2e(request) - ttft) / (tokens - 1)


def _gaps(done: Sequence[Request]) -> Iterator[float]:
    for request in done:
        yield from np.diff(request.stream.t).tolist()


def _throughput(done: Sequence[Request], mine: Sequence[Request]) -> dict[str, Any] | None:
    """Over the cell's first send to its last end. A token rate needs every request's count."""
    seconds = max(r.t_over for r in mine) - min(r.step.t_send for r in mine)
    if not done or seconds <= 0:
        return None
    read, written = (summed(done, name) for name in ("prompt_tokens", "completion_tokens"))
    both = None if read is None or written is None else read + written
    return known({
        "input_token_rate": _rate(read, seconds, "tokens/s"),
        "output_token_rate": _rate(written, seconds, "tokens/s"),
        "total_token_rate": _rate(both, seconds, "tokens/s"),
        "request_rate": _rate(len(done), seconds, "queries/s"),
    })  # fmt: skip


def summed(requests: Sequence[Request], name: str) -> int | None:
    """A token count over all requests; None unless each of them reported it."""
    values = list(counted(requests, name))
    return sum(values) if len(values) == len(requests) else None


def _rate(amount: float | None, seconds: float, units: str) -> dict[str, Any] | None:
    return None if amount is None else {"units": units, "mean": amount / seconds}
