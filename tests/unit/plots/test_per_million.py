"""Cost per million tokens: measured marks filled, published ones hollow and in rows of their own."""

import pandas as pd
import pytest
from synthetic import frame, steps

from labkit.analysis.cost import cost_table
from labkit.analysis.recost import RateRow, recost
from labkit.core.prices import Prices
from labkit.plots.per_million import per_million_figure, per_million_info
from labkit.plots.theme import MODES, Mode
from labkit.store.prices import load_prices

PRICES = load_prices().named("mi300x-8-rent")
RATE = RateRow(
    id="somebody", what="8 GPUs", machine="8 x MI300X", gpus=8, requests_per_s=8.0, good_share=0.5, prompt_tokens=1.0,
    generated_tokens=1000.0, claimed_usd=None, url="https://example.org", date="2026", caution="",
)  # fmt: skip


@pytest.fixture
def costs() -> pd.DataFrame:
    return cost_table(frame(steps(("base", "prefix"))), PRICES)


@pytest.mark.parametrize("mode", MODES)
def test_claims_are_hollow_and_come_last(costs: pd.DataFrame, mode: Mode):
    info = per_million_info(costs, recost([RATE], PRICES), "generated", "mi300x-8-rent")
    assert [(mark.row, mark.claimed) for mark in info.marks] == [
        ("base", False), ("prefix", False), ("claim: somebody", True)
    ]  # fmt: skip
    assert info.marks[-1].value == pytest.approx(2.59 * 8 / 3600 / 8 / 1000 * 1e6)
    assert "n 80 tokens" in info.caption.alt
    figure = per_million_figure(info, mode)
    symbols = [trace.marker.symbol for trace in figure.data]
    assert [symbol.endswith("-open") for symbol in symbols] == [False, False, True]
    assert figure.layout.xaxis.type == "log"


def test_only_generated_tokens_have_a_published_rate(costs: pd.DataFrame):
    assert not any(mark.claimed for mark in per_million_info(costs, recost([RATE], PRICES), "computed", "p").marks)


def test_without_counted_tokens_there_is_a_sentence(costs: pd.DataFrame):
    info = per_million_info(costs.assign(usd_per_m_computed=None), recost([], Prices({})), "computed", "p")
    assert info.caption.empty == "No arm had such tokens, or said how many: there is no such cost."
    assert not per_million_figure(info).data
