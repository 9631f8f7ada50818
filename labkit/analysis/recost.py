"""What somebody else's published result would cost, from its rates and a price: a table's inputs in, its costs out.

    usd per request     = usd_per_hour / (3600 * requests_per_s)
    usd per good one    = usd per request / good_share
    usd per M generated = usd per request / generated_tokens * 1e6

An input that was not published is null, and so is every cost that needs it. A published cost stays beside the
recomputed one, as a claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.hourly import hourly
from labkit.analysis.tables import typed_frame
from labkit.core.columns import column
from labkit.core.prices import Price
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class RateRow(Record):
    """A published result as a cost needs it: a row of `data/published_rates.csv`."""

    id: str = column("string", "", "name of the row")
    what: str = column("string", "", "what was served, and how")
    machine: str = column("string", "", "the hardware, as published")
    gpus: int | None = column("int64", "", "GPUs that served it", nullable=True)
    requests_per_s: float | None = column("float64", "1/s", "requests (or tasks) served a second", nullable=True)
    good_share: float | None = column("float64", "", "share of them that met the goal", nullable=True)
    prompt_tokens: float | None = column("float64", "tokens", "prompt tokens of a request", nullable=True)
    generated_tokens: float | None = column("float64", "tokens", "generated tokens of a request", nullable=True)
    claimed_usd: float | None = column("float64", "USD", "cost per request that was published", nullable=True)
    url: str = column("string", "", "where it was published; empty: not available")
    date: str = column("string", "", "when it was published")
    caution: str = column("string", "", "what to keep in mind")


@dataclass(frozen=True, kw_only=True)
class RecostRow(Record):
    """One published result at one price."""

    id: str = column("string", "", "name of the published row")
    what: str = column("string", "", "what was served, and how")
    price: str = column("string", "", "name of the price")
    usd_per_hour: float = column("float64", "USD/h", "an hour of work on the whole machine")
    usd_per_request: float | None = column("float64", "USD", "per request or task", nullable=True)
    usd_per_good: float | None = column("float64", "USD", "per request that met the goal", nullable=True)
    usd_per_m_generated: float | None = column("float64", "USD", "whole cost per million generated", nullable=True)
    claimed_usd: float | None = column("float64", "USD", "what was published, per request", nullable=True)
    missing: str = column("string", "", "inputs that are not available; empty when all are")


def recost(rates: Sequence[RateRow], prices: Mapping[str, Price]) -> pd.DataFrame:
    """One row for each published row and price; columns as RecostRow declares them.

    A row of another number of GPUs than the machine has is left out: half a machine has no price here.
    """
    rows = [
        _row(rate, name, price)
        for rate in rates
        for name, price in prices.items()
        if rate.gpus is None or rate.gpus == price.gpus
    ]
    return typed_frame(RecostRow, rows)


def _row(rate: RateRow, name: str, price: Price) -> RecostRow:
    an_hour = hourly(price).total
    request = an_hour / (3600 * rate.requests_per_s) if rate.requests_per_s else None
    inputs = ("requests_per_s", "good_share", "generated_tokens")
    return RecostRow(
        id=rate.id,
        what=rate.what,
        price=name,
        usd_per_hour=an_hour,
        usd_per_request=request,
        usd_per_good=request / rate.good_share if request is not None and rate.good_share else None,
        usd_per_m_generated=request / rate.generated_tokens * 1e6
        if request is not None and rate.generated_tokens
        else None,
        claimed_usd=rate.claimed_usd,
        missing=", ".join(name for name in inputs if getattr(rate, name) is None),
    )
