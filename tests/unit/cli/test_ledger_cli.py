"""`labkit ledger` over a run folder whose numbers are known."""

from dataclasses import replace

import pytest
from run_folders import ended
from synthetic import step, steps
from typer.testing import CliRunner

from labkit.cli import build
from labkit.core.arms import ARMS
from labkit.core.records import StepRecord

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


def twice(arm: str, cached: int = 0, **changes: object) -> list[StepRecord]:
    return [step(arm, turn, cached_tokens=cached, **{**TIMES, **SHARED, **changes}) for turn in (1, 2)]


def test_the_block_that_only_shows_drift_is_in_no_sum():
    made = [*twice("base"), *twice("prefix", 320), *twice("base", repeat=1)]
    text = said(ended(made, repeats=1, drift_check=True))
    base = [line.split() for line in text.splitlines() if line.startswith("base")]
    assert [row[1] for row in base[:2]] == ["2", "2"]
    assert base[1][2] == "1.4k"


def test_cold_and_warm_passes_are_in_sums_of_their_own():
    made = [*twice("prefix", 0), *twice("prefix", 320, cache="warm")]
    text = said(ended(made))
    cold, warm = (text.split(f"Why were prompt tokens computed again? ({name} passes)")[1] for name in ("cold", "warm"))
    cached = [next(row for row in part.splitlines() if row.startswith("prefix")).split()[3] for part in (cold, warm)]
    assert cached == ["0", "640"]
    assert "Where did the seconds go? (warm passes)" in text


def test_a_run_of_a_script_has_its_seconds():
    made = [replace(one, arm="none", prefill_s=None, decode_s=None) for one in twice("base")]
    line = next(line for line in said(ended(made, arms=["none"])).splitlines() if line.startswith("none"))
    assert line.split()[1] == "2"


def test_eight_arms_fit_into_eighty_columns_uncut():
    run = ended([step(arm.label, turn, **TIMES, **SHARED) for arm in ARMS for turn in (1, 2)])
    result = CliRunner().invoke(build(), ["ledger", run], env={"COLUMNS": "80"})
    assert "…" not in result.output
    assert max(map(len, result.output.splitlines()[:-1])) <= 80
