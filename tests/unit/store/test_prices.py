"""The prices that ship, and files that are wrong."""

import re
from pathlib import Path

import pytest

from labkit.core.errors import BadInput, UnknownName
from labkit.engines.profiles import list_profiles
from labkit.store.prices import FIGURES, load_prices, set_values

GOOD = """
[node]
about = "a node"
kind = "rent"
gpus = 8
[node.figures]
rent_per_gpu_hour = { value = 2.0, date = "2026-10", source = "https://example.org/prices" }
utilisation = { value = 1.0, date = "2026-10", assumption = "no idle hours" }
"""


def test_every_shipped_figure_has_a_source_or_says_that_it_is_an_assumption() -> None:
    prices = load_prices()
    assert {"mi300x-8-rent", "mi300x-8-own", "h200-8-rent", "h100-8-rent", "laptop-cpu"} <= set(prices)
    for price in prices.values():
        assert [figure.name for figure in price.figures] == list(FIGURES[price.kind])
        for figure in price.figures:
            assert figure.date
            assert figure.source
            assert figure.assumption != figure.source.startswith("https://")


def test_the_prices_of_a_profile_are_of_its_machine() -> None:
    assert set(load_prices().of_profile("cpu-smollm2")) == {"laptop-cpu"}
    assert all(price.gpus == 8 for price in load_prices().of_profile("mi300x-8-qwen3-235b").values())
    assert len(load_prices().of_profile("mi300x-8-qwen3-235b")) == 3
    assert not load_prices().of_profile("nobody's")


def test_every_shipped_profile_of_a_whole_mi300x_node_has_its_prices() -> None:
    eight = [name for name in list_profiles() if name.startswith("mi300x-8-")]
    assert len(eight) >= 3
    for name in eight:
        assert len(load_prices().of_profile(f"{name}+kv-fp8")) == 3


def test_an_unknown_price_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no price is called 'mi300x'; did you mean mi300x-8-own or mi300x-8-rent"):
        load_prices().named("mi300x")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('kind = "rent"', 'kind = "lease"'), r"p.toml: node.kind: 'lease' is not allowed; allowed: .*'rent' or 'own'"),
        (("gpus = 8", "gpus = -1"), "p.toml: node.gpus: -1"),
        (("gpus = 8", "gpus = 8\ncolour = 1"), "p.toml: node.colour"),
        (("value = 2.0", "value = -2.0"), r"rent_per_gpu_hour.value: -2.0 .*at least 0 \(rent of one GPU"),
        (("value = 2.0", "value = nan"), "rent_per_gpu_hour.value: nan"),
        (("value = 1.0", "value = 1.5"), "utilisation.value: 1.5 .*above 0, at most 1"),
        (
            ('date = "2026-10", source', 'date = "last week", source'),
            "node.figures.rent_per_gpu_hour.date: 'last week'",
        ),
        (("https://example.org/prices", "a friend"), "node.figures.rent_per_gpu_hour.source: 'a friend'"),
        (('assumption = "no idle hours"', 'note = "?"'), "give either `source` .* or `assumption`"),
        (
            ("utilisation =", "usage ="),
            "p.toml: node.figures: rent_per_gpu_hour,usage .*exactly rent_per_gpu_hour, util",
        ),
        (("[node]", "[node"), "a TOML file"),
        (("gpus = 8", "gpus = 2.5"), "node.gpus: 2.5 is not allowed; allowed: a whole number, 0 or more"),
        (("gpus = 8", ""), "node.gpus: nothing is not allowed; allowed: a whole number, 0 or more"),
        (("gpus = 8", "gpus = 8\ncolour = 1"), "node.colour: 1 is not allowed; allowed: only about, kind, gpus, prof"),
        (("value = 2.0", "value = 'much'"), "rent_per_gpu_hour.value: 'much' is not allowed; allowed: a number"),
        (("2.0, date", "2.0, day = 1, date"), "rent_per_gpu_hour.day: 1 .*allowed: only value, source, assumption"),
        (('date = "2026-10", source', "date = 2026-10-01, source"), "allowed: YYYY-MM or YYYY-MM-DD, in quotes"),
    ],
)
def test_a_wrong_file_names_field_value_and_what_is_allowed(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    path = tmp_path / "p.toml"
    path.write_text(GOOD)
    assert load_prices(path)["node"].value("rent_per_gpu_hour") == 2.0
    path.write_text(GOOD.replace(*change))
    with pytest.raises(BadInput, match=said) as caught:
        load_prices(path)
    assert not re.search(r"[Ii]nput should|Extra inputs|Field required|Value error|valid string", str(caught.value))


def test_what_is_no_table_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text("node = 3")
    with pytest.raises(BadInput, match=r"p.toml: node: 3 is not allowed; allowed: a table such as \[my-node\]"):
        load_prices(path)


def test_no_file_and_no_price(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a file that can be read"):
        load_prices(tmp_path / "none.toml")
    (tmp_path / "empty.toml").write_text("# nothing")
    with pytest.raises(BadInput, match="at least one table"):
        load_prices(tmp_path / "empty.toml")


def test_a_figure_that_is_set_is_an_assumption_of_the_day() -> None:
    prices = set_values(load_prices(), ["rent_per_gpu_hour=2.1"], "2026-12-01")
    figure = prices["mi300x-8-rent"].figures[0]
    assert (figure.value, figure.source, figure.date, figure.assumption) == (
        2.1, "set on the command line", "2026-12-01", True,
    )  # fmt: skip
    assert prices["h100-8-rent"].value("rent_per_gpu_hour") == 2.1
    assert prices["laptop-cpu"] == load_prices()["laptop-cpu"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [("rent=2", "set: 'rent' is not allowed"), ("years", "name=number"), ("years=-1", "years: -1.0 .*above 0")],
)
def test_a_wrong_setting(setting: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        set_values(load_prices(), [setting], "2026-12-01")
