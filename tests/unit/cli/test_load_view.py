"""Runs under load in the terminal: what is not measured is a dash, and failures are never left out."""

from __future__ import annotations

import io

import pandas as pd
from rich.console import Console

from labkit.analysis.concurrency import ConcurrencyRow
from labkit.analysis.goodput import GoodputRow
from labkit.analysis.load_row import LoadRow
from labkit.analysis.slo import Slo
from labkit.analysis.tables import typed_frame
from labkit.cli.load_view import interference_table, levels_table, print_in_flight


def printed(*what: object) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    for each in what:
        console.print(each)
    return console.export_text()


def levels(**values: object) -> pd.DataFrame:
    known: dict[str, object] = {
        "arm": "prefix", "agents": 2, "n_windows": 1, "n_agent_runs": 3, "n_sent": 30, "n_failed": 0, "in_flight": 1.9,
        "ttft_p50_s": 0.8, "ttft_ratio": 2.0, "itl_p50_s": 0.05, "itl_p99_s": 0.9, "itl_ratio": 15.0, "n_gaps": 900,
        "stall_s": 0.2, "n_stalls": 9, "stalls_per_1000": 10.0, "lost_s": 6.0, "lost_share": 0.2,
        "stalls_overlapped": 1.0, "gaps_overlapped": 0.25, "hit_rate": 0.8, "too_few": True,
    }  # fmt: skip
    return typed_frame(LoadRow, [LoadRow.from_dict({**known, **values})])


def test_a_level_with_few_runs_has_no_interval_and_says_why():
    text = printed(interference_table(levels()))
    assert "800 ms" in text
    assert "2.00x" in text
    assert "50.0/900 ms" in text
    assert "30 in 3 runs" in text
    assert "80 %/–" in text
    assert "too few to tell" in text
    assert "prefix x2 100 % (25 %)" in text


def test_intervals_and_failures_are_shown():
    text = printed(interference_table(levels(ttft_low_s=0.6, ttft_high_s=1.2, n_failed=2, too_few=False)))
    assert "0.60-1.20 s" in text
    assert "30 in 3 runs, 2 failed" in text
    assert "too few to tell" not in text


def test_a_level_of_a_search():
    row = GoodputRow(
        arm="base", agents=4, n_windows=1, n_agent_runs=8, n_sent=40, n_failed=3, n_good=30, attainment=0.75, low=0.6,
        high=0.87, sent_per_s=1.0, good_per_s=0.75, holds=False,
    )  # fmt: skip
    text = printed(levels_table(typed_frame(GoodputRow, [row]), Slo(ttft_s=3, itl_s=0.5)))
    assert "30/40 (3 failed)" in text
    assert "60 % to 87 %" in text
    assert "TTFT <= 3 s and ITL p99 <= 0.5 s for 90 % of the requests sent" in text


def test_how_much_of_the_time_so_many_were_in_flight(capsys):
    rows = [
        ConcurrencyRow(arm="pd", condition="agents=2", repeat=repeat, in_flight=n, seconds=s, share=s / 10)
        for repeat in (0, 1)
        for n, s in ((1, 2.0), (2, 8.0))
    ]
    print_in_flight(typed_frame(ConcurrencyRow, rows), Console(width=200))
    assert capsys.readouterr().out.strip() == "in flight, pd: x2 (1: 20 %, 2: 80 %)"
