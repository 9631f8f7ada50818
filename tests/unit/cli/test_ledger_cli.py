"""`labkit ledger` over a run folder whose numbers are known."""

import pytest
from run_folders import ended
from synthetic import step, steps
from typer.testing import CliRunner

from labkit.cli import build

TIMES = {"send_lag_s": 0.0, "server_s": 0.02, "queue_s": 0.01, "prefill_s": 0.5, "decode_s": 1.9}
SHARED = {"append_tokens": 390, "shared_tokens": 380, "ceiling_tokens": 352, "reachable_tokens": 352}


@pytest.fixture(autouse=True)
def _store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))


def said(run: str) -> str:
    result = CliRunner().invoke(build(), ["ledger", run], env={"COLUMNS": "140"})
    assert result.exit_code == 0, result.output
    return result.output


def test_seconds_and_tokens_by_what_became_of_them():
    made = [step("prefix", turn, cached_tokens=320, **TIMES, **SHARED) for turn in (1, 2)]
    text = said(ended(made))
    assert "Where did the seconds go?" in text
    assert "Why were prompt tokens computed again?" in text
    (seconds, tokens) = (line.split() for line in text.splitlines() if line.startswith("prefix"))
    assert (seconds[1], seconds[6], seconds[8]) == ("2", "1.00", "3.80")
    assert tokens[1:] == ["2", "1.4k", "640", "64", "0", "0", "56", "20", "620"]
    assert "client: loop lag – / – ms" in text


def test_what_was_not_measured_is_a_dash():
    text = said(ended(steps(("base",), turns=1)))
    line = next(line for line in text.splitlines() if line.startswith("base"))
    assert line.count("–") >= 6


def test_a_run_without_a_step_says_so():
    assert "No step has finished." in said(ended([]))
