"""docs/measuring.md names a test or a reason for each of the known mistakes; the tests that it names are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/measuring.md").read_text(encoding="utf-8")
ROWS = re.findall(r"(?m)^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE)
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_all_twenty_one_are_there_with_what_is_done_and_what_holds_it():
    assert [int(number) for number, *_ in ROWS] == list(range(1, 22))
    assert "TODO" not in PAGE
    for number, _, done, held in ROWS:
        assert len(done) > 40, number
        assert "::" in held, number


@pytest.mark.parametrize(("file", "test"), NAMED, ids=[name for _, name in NAMED])
def test_a_test_that_is_named_exists(file: str, test: str):
    assert re.search(rf"(?m)^(async )?def {test}\(", (ROOT / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("target", re.findall(r"\]\(([\w./-]+)\)", PAGE))
def test_a_page_that_is_linked_exists(target: str):
    assert (ROOT / "docs" / target).is_file()
