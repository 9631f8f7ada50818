"""Published rates with a price put to them, as a terminal shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from labkit.analysis.format import DASH, missing, percent, plain, usd
from labkit.analysis.recost import RateRow, recost
from labkit.cli.cost_view import figures_table, title
from labkit.core.paths import data_dir
from labkit.core.prices import Prices
from labkit.store.declared_csv import read_declared


def show_published(prices: Prices, file: Path | None, console: Console, *, as_json: bool) -> None:
    """What published results cost at these prices. `file`: rates of one's own. Raises BadInput."""
    path = file or data_dir() / "published_rates.csv"
    rates = [row for _, row in read_declared(path, RateRow)]
    if as_json:
        print(json.dumps(json.loads(recost(rates, prices).to_json(orient="records")), indent=2))
        return
    for name, price in prices.items():
        table = _table(rates, prices.named(name))
        if table.row_count:
            console.print(title(price))
            console.print(Padding(table, (0, 0, 1, 0)))
            console.print(Text("What this rests on", "bold"))
            console.print(Padding(figures_table(price), (0, 0, 1, 2)))
    for line in _sources(rates):
        console.print(line)


def _table(rates: list[RateRow], prices: Prices) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("published result", overflow="fold")
    for heading in ("rate\n1/s", "good", "per\nrequest", "per good\none", "per M\ngenerated", "as\nclaimed"):
        table.add_column(heading, justify="right")
    by_id = {row.id: row for row in rates}
    for row in recost(rates, prices).to_dict("records"):
        rate = by_id[str(row["id"])]
        lacks = "" if missing(row["missing"]) or not row["missing"] else f"\nnot available: {row['missing']}"
        table.add_row(
            Text(rate.id, "bold").append(f"\n{rate.what}{lacks}", "default"),
            plain(rate.requests_per_s),
            percent(rate.good_share) if rate.good_share is not None else DASH,
            *(usd(row[name]) for name in ("usd_per_request", "usd_per_good", "usd_per_m_generated", "claimed_usd")),
        )
    return table


def _sources(rates: list[RateRow]) -> Iterator[Text]:
    """Where the rates are from and what to keep in mind, once for all rows that share it."""
    said: dict[str, list[str]] = {}
    for row in rates:
        said.setdefault(f"{row.url or 'not available'}, {row.date}. {row.caution}.", []).append(row.id)
    for words, ids in said.items():
        yield Text.assemble((", ".join(ids), "bold"), f": {words}")
