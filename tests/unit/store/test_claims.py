"""The claims that ship, and files that are wrong."""

import csv
import io
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest

from labkit.analysis.recost import RateRow
from labkit.core.columns import columns_of
from labkit.core.errors import BadInput
from labkit.core.paths import data_dir
from labkit.store.claims import ClaimRow, load_claims
from labkit.store.declared_csv import read_declared

GOOD = {
    "id": "a", "layer": "speculation", "metric": "e2e_s", "statement": "It is faster.", "value": "2.5", "unit": "x",
    "source": "somebody", "url": "https://example.org/post", "date": "2026-10-01", "dated": "published",
    "read": "source read", "caution": "One run.",
}  # fmt: skip
COLUMNS = [column.name for column in columns_of(ClaimRow)]


def written(folder: Path, *rows: dict[str, str], columns: list[str] | None = None) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (folder / "mine.csv").write_text(text.getvalue())
    return folder


def test_every_shipped_claim_has_a_source_a_date_and_a_caution() -> None:
    claims = load_claims()
    assert len(claims) > 70
    assert claims["id"].is_unique
    for name in ("statement", "source", "date", "caution", "read"):
        assert (claims[name].str.len() > 0).all(), name
    addressed = claims[claims["read"] != "not available"]
    assert all(urlsplit(url).scheme == "https" and urlsplit(url).path for url in addressed["url"])
    assert set(claims[claims["read"] == "not available"]["source"]) == {"seed article"}


def test_what_the_seed_article_says_has_no_number_here_and_says_what_is_true_today() -> None:
    article = load_claims()
    article = article[article["source"] == "seed article"]
    assert len(article) == 14
    assert article["value"].isna().all()
    assert (article["today"].str.len() > 0).all()


def test_a_known_claim_reads_as_it_was_written() -> None:
    claim = load_claims().set_index("id").loc["moriio-goodput"]
    assert (claim["value"], claim["unit"], claim["hardware"], claim["date"]) == (
        2.5, "x", "8 x MI300X, one node", "2026-04-07",
    )  # fmt: skip
    assert pd.isna(claim["low"])


def test_the_published_rates_that_ship_are_valid() -> None:
    rates = {row.id: row for _, row in read_declared(data_dir() / "published_rates.csv", RateRow)}
    assert rates["moriio-write"].good_share == 0.73
    assert rates["article-5.3"].requests_per_s is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"layer": "prefix"}, "mine.csv line 2, layer: 'prefix' is not allowed; allowed: prefix_caching, pd_split"),
        ({"value": "fast"}, "mine.csv line 2, value: 'fast' is not allowed; allowed: float64"),
        ({"unit": ""}, "mine.csv line 2, unit"),
        ({"date": "last year"}, "mine.csv line 2, date"),
        ({"date": ""}, "mine.csv line 2, date"),
        ({"dated": "once"}, "mine.csv line 2, dated"),
        ({"url": "example.org"}, "mine.csv line 2, url"),
        ({"url": ""}, "mine.csv line 2, url"),
        ({"source": ""}, "mine.csv line 2, source"),
        ({"caution": " "}, "mine.csv line 2, caution"),
        ({"read": "heard"}, "mine.csv line 2, read"),
    ],
)
def test_a_wrong_cell_is_named_with_file_line_and_field(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    assert len(load_claims(written(tmp_path, GOOD))) == 1
    with pytest.raises(BadInput, match=said):
        load_claims(written(tmp_path, {**GOOD, **changes}))


def test_the_same_name_twice_other_columns_and_a_short_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3, id: 'a'"):
        load_claims(written(tmp_path, GOOD, GOOD))
    with pytest.raises(BadInput, match=r"mine.csv: columns: .* exactly, in this order: id, layer, metric"):
        load_claims(written(tmp_path, GOOD, columns=COLUMNS[:-1]))
    written(tmp_path, GOOD)
    (tmp_path / "mine.csv").write_text((tmp_path / "mine.csv").read_text() + "b,speculation\n")
    with pytest.raises(BadInput, match=r"mine.csv line 3: .*21 cells"):
        load_claims(tmp_path)


def test_a_folder_without_claims(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a folder with"):
        load_claims(tmp_path)
