"""Growth with the steps as a terminal shows it: the sums of each cut, and how fast they grow."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.exponents import exponent_table
from labkit.analysis.format import DASH, count, missing, percent, plain, seconds, times
from labkit.analysis.growth import growth_table
from labkit.cli.measuring import ending, say_json
from labkit.core.arms import BASE
from labkit.store.runs import Run

Row = dict[str, Any]
_MEASURES = {"prompt_computed": "tokens computed", "e2e_s": "time"}
_LEGEND = (
    "e2e: send to end, without and with the recorded time of tools. vs base: base / arm. KV: of the longest context.\n"
    "exponent: 1 grows in step with the steps; last: between the two largest counts alone."
)


def show(run: Run, console: Console, *, as_json: bool = False) -> None:
    """Both tables, then what every run says last."""
    growth, exponents = print_run(run, console)
    ending(run, console)
    if as_json:
        say_json(run, growth=_plain(growth), exponents=_plain(exponents))


def print_run(run: Run, console: Console) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Print both tables, and return them."""
    growth, exponents = tables(run)
    print_tables(growth, exponents, console)
    return growth, exponents


def tables(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of GrowthRow and of ExponentRow of a run."""
    steps, kv_bytes = run.steps(), run.info.fingerprint.get("kv_bytes_per_token")
    return growth_table(steps, run.samples(), kv_bytes), exponent_table(steps)


def print_tables(growth: pd.DataFrame, exponents: pd.DataFrame, console: Console) -> None:
    """Nothing where nothing was measured."""
    if len(growth):
        console.print(growth_view(growth))
    if len(exponents):
        console.print("", exponents_view(exponents))
        console.print(Text(_LEGEND, "italic dim"))
    for line in left_of_it(growth):
        console.print(line, highlight=False, soft_wrap=True)


def left_of_it(growth: pd.DataFrame) -> list[str]:
    """What each arm leaves of base's growth, at the most steps that it has in common with base; a sentence an arm.

    A ratio of times is of these passes alone: whether it holds is for the factorial to say.
    """
    compared = growth[(growth["arm"] != BASE.label) & growth["computed_vs_base"].notna()]
    return [
        f"At {row['steps']} steps {row['arm']} computes {percent(1 / row['computed_vs_base'])} of the prompt tokens "
        f"that {BASE.label} computes, in {percent(1 / row['time_vs_base'])} of its time "
        f"(n = {row['n_passes']} pass{'es' * (row['n_passes'] != 1)}, no interval: too few to tell of the time)."
        for row in compared.sort_values("steps").drop_duplicates("arm", keep="last").to_dict("records")
        if not missing(row["time_vs_base"])
    ]


def growth_view(growth: pd.DataFrame) -> Table:
    """A row for each arm and count; "not measured" is a dash."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("arm", no_wrap=True)
    for name in (
        "steps\n(passes)", "prompt\nsent", "prompt\ncomp.", "gen.", "e2e\n+tools", "prefill", "context\nKV",
        "vs base\ntok./time",
    ):  # fmt: skip
        table.add_column(name, justify="right", no_wrap=True)
    rows: list[Any] = growth.to_dict("records")
    for number, row in enumerate(rows):
        last = number + 1 == len(rows) or rows[number + 1]["arm"] != row["arm"]
        table.add_row(*_cells(row), end_section=last)
    return table


def _cells(row: Row) -> list[Text]:
    broken = f", {row['n_broken']} broken" if row["n_broken"] else ""
    return [
        Text(row["arm"], "bold"),
        Text(f"{row['steps']} ({row['n_passes']}{broken})"),
        Text(count(row["prompt_sent"])),
        Text(count(row["prompt_computed"])),
        Text(count(row["generated"])),
        Text(f"{seconds(row['e2e_s'])}\n{seconds(row['with_tools_s'])}"),
        Text(percent(row["prefill_share"])),
        Text(f"{count(row['peak_context'])}\n{_kv(row)}"),
        Text(f"{times(row['computed_vs_base'])}\n{times(row['time_vs_base'])}"),
    ]


def _kv(row: Row) -> str:
    gauge = "" if missing(row["kv_usage_peak"]) else f" {percent(row['kv_usage_peak'])}"
    return DASH if missing(row["kv_bytes"]) else f"{plain(row['kv_bytes'] / 2**20)} MiB{gauge}"


def exponents_view(exponents: pd.DataFrame) -> Table:
    """A row for each arm and sum."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("arm", "what grows"):
        table.add_column(name, no_wrap=True)
    for name in ("exponent", "last"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("it grows")
    for row in exponents.to_dict("records"):
        interval = "" if missing(row["low"]) else f" [{plain(row['low'])}, {plain(row['high'])}]"
        told = f"{row['verdict']} (n {row['n_units']}, {row['over']})"
        cells = (f"{plain(row['exponent'])}{interval}", plain(row["last_exponent"]), told)
        table.add_row(Text(row["arm"], "bold"), _MEASURES[row["measure"]], *cells)
    return table


def _plain(frame: pd.DataFrame) -> Any:
    return json.loads(frame.to_json(orient="records"))
