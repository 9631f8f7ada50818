"""Two runs against each other: known answers when paired, honest words when not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of
from scipy import stats

from labkit.analysis.comparison import METRICS, compare
from labkit.analysis.same_requests import same_requests
from labkit.core.records import ChunkRecord


def run(
    scale: float = 1.0, tasks: int = 6, turns: int = 3, recording: str = "r", repeats: int = 4, **changes: object
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every time is scale x turn x (1 + task / 5) x a part of it; 12 chunks of the same gap."""
    made = []
    for task, turn, repeat in np.ndindex(tasks, turns, repeats):
        unit = scale * (turn + 1) * (1 + task / 5)
        values = {
            "task": f"t{task}", "recording": f"{recording}{task}", "turn": turn + 1, "repeat": repeat, "t_send": 0.0,
            "t_first_token": 0.4 * unit, "t_last": 1.5 * unit, "t_end": 2.0 * unit, "prompt_tokens": 100 * (turn + 1),
            "cached_tokens": 0, "completion_tokens": 12,
        }  # fmt: skip
        made.append(a_step(**{**values, **changes}))
    chunks = [chunk for step in made for chunk in chunks_at(step, *(step.t_end * n / 20 for n in range(12)))]
    return frame_of(made), frame_of(chunks, ChunkRecord)


def gains(table: pd.DataFrame) -> dict[str, float]:
    return dict(zip(table["metric"], table["gain"], strict=True))


def test_a_run_against_itself_gains_nothing():
    table = compare(*run(), *run())
    assert list(table["metric"]) == list(METRICS)
    assert table["gain"].tolist() == [1.0] * len(METRICS)
    assert table["paired"].all()
    assert table["verdict"].str.startswith("same").all()
    assert (table["n_requests"] == 18).all()
    assert (table["a"] == table["b"]).all()


def test_a_run_that_was_cut_short_is_compared_over_the_requests_that_both_have():
    whole, cut = run(), run(turns=1)
    row = compare(*whole, *cut).set_index("metric").loc["e2e_s"]
    assert row["gain"] == pytest.approx(1.0)
    assert row["a"] == row["b"]
    assert row["n_a"] == row["n_b"] == 24


def test_twice_as_fast_gains_two_and_tokens_stay_as_they_are():
    table = compare(*run(2.0), *run(1.0))
    assert gains(table) == pytest.approx(
        {"e2e_s": 2.0, "ttft_s": 2.0, "itl_p99_s": 2.0, "tokens_per_s": 2.0, "prompt_computed": 1.0}
    )
    by_metric = table.set_index("metric")
    assert by_metric.loc["e2e_s", "low"] == pytest.approx(2.0)
    assert by_metric.loc["e2e_s", "verdict"] == "better"
    assert by_metric.loc["tokens_per_s", "b"] == pytest.approx(2 * by_metric.loc["tokens_per_s", "a"])
    back = compare(*run(1.0), *run(2.0)).set_index("metric")
    assert back.loc["e2e_s", "gain"] == pytest.approx(0.5)
    assert back.loc["e2e_s", "verdict"] == "worse"


def test_other_recordings_are_not_paired_and_it_is_said():
    table = compare(*run(2.0), *run(1.0, recording="other")).set_index("metric")
    whole = table.loc["e2e_s"]
    assert not table["paired"].any()
    assert whole["gain"] == pytest.approx(2.0)
    # Welch on the six tasks' mean logs, which differ from task to task: a wide interval, though every ratio is 2.
    assert whole["low"] < 1.6
    assert whole["high"] > 2.5
    assert "Welch" in whole["method"]
    assert "Not paired" in whole["note"]


def test_welch_is_that_of_scipy():
    table = compare(*run(2.0), *run(1.3, tasks=4, recording="other")).set_index("metric")
    sides = ((2.0, 6), (1.3, 4))
    logs = [np.log([[2.0 * scale * turn * (1 + k / 5) for turn in (1, 2, 3)] for k in range(n)]) for scale, n in sides]
    found = stats.ttest_ind(*(of.mean(axis=1) for of in logs), equal_var=False)
    span = found.confidence_interval(0.95)
    assert table.loc["e2e_s", "p"] == pytest.approx(found.pvalue)
    assert table.loc["e2e_s", "df"] == pytest.approx(found.df)
    assert np.log(table.loc["e2e_s", ["low", "high"]].astype(float)).tolist() == pytest.approx([span.low, span.high])


def test_one_task_on_either_side_is_too_few_to_tell():
    row = compare(*run(2.0), *run(1.0, tasks=1, recording="other")).set_index("metric").loc["e2e_s"]
    assert row["verdict"].startswith("too few to tell: not the same requests")
    assert pd.isna(row["low"])
    paired = compare(*run(2.0, tasks=1, repeats=1), *run(1.0, tasks=1, repeats=1)).set_index("metric").loc["e2e_s"]
    assert paired["gain"] == pytest.approx(2.0)
    assert paired["verdict"].startswith("too few to tell: one task and 1 repeat")


def test_only_arms_conditions_and_cache_states_of_both_are_compared():
    a, b = run(1.0), run(1.0, arm="prefix")
    assert compare(*a, *b).empty
    assert compare(*a, *run(condition="agents=4")).empty
    assert compare(*a, *run(cache="warm")).empty
    both = tuple(pd.concat(frames, ignore_index=True) for frames in zip(run(), run(arm="spec"), strict=True))
    assert compare(*both, *both)["arm"].unique().tolist() == ["base", "spec"]
    nothing = frame_of([]), frame_of([], ChunkRecord)
    assert compare(*nothing, *nothing).empty
    assert compare(*a, *nothing).empty


def test_warmup_and_failures_have_no_part():
    steps, chunks = run(1.0)
    broken = steps.assign(error=steps["error"].where(steps["turn"] != 2, "HTTP 500"))
    row = compare(steps, chunks, broken, chunks).set_index("metric").loc["e2e_s"]
    assert row["n_requests"] == 12
    assert row["n_left_out"] == 24
    assert (row["n_a"], row["n_b"]) == (48, 48)
    assert compare(steps.assign(warmup=True), chunks, steps, chunks).empty


class TestSameRequests:
    def one(self, a: pd.DataFrame, b: pd.DataFrame, *hashes: dict[str, str]) -> tuple[bool, str]:
        (row,) = same_requests(a, b, *hashes)
        return row.same, row.why

    def steps(self, **changes: object) -> pd.DataFrame:
        return frame_of([a_step(**{"recording": "r", "prompt_tokens": 500, **changes})])

    def test_by_hash(self):
        a, b = self.steps(), self.steps(prompt_tokens=700)
        assert self.one(a, b, {"r": "x"}, {"r": "x"}) == (True, "same hash"), "another tokenizer, the same words"
        assert self.one(a, a, {"r": "x"}, {"r": "y"}) == (False, "another content under the same name")

    def test_by_name_and_length_without_a_hash_on_both_sides(self):
        assert self.one(self.steps(), self.steps(), {"r": "x"}, {})[0]
        assert "no hash was kept" in self.one(self.steps(), self.steps())[1]
        assert not self.one(self.steps(), self.steps(prompt_tokens=501))[0]
        assert not self.one(self.steps(), self.steps(prompt_tokens=None))[0]

    @pytest.mark.parametrize(
        ("changes", "why"),
        [({"history": "live"}, "live history"), ({"mode": "pinned"}, "natural replay in A, pinned in B")],
    )
    def test_what_is_never_the_same_work(self, changes, why):
        same, said = self.one(self.steps(), self.steps(**changes), {"r": "x"}, {"r": "x"})
        assert not same
        assert said.startswith(why)

    def test_live_agents_and_recordings_of_one_side(self):
        live = self.steps(recording="")
        assert self.one(live, live)[1].startswith("live agents")
        rows = same_requests(self.steps(), self.steps(recording="other"))
        assert [(row.recording, row.same, row.why) for row in rows] == [
            ("other", False, "only in B"),
            ("r", False, "only in A"),
        ]


def test_two_runs_of_two_repeats_are_too_few_and_a_start_that_both_used_is_said():
    row = compare(*run(2.0, repeats=2), *run(1.0, repeats=2)).set_index("metric").loc["e2e_s"]
    assert row["verdict"].startswith("too few to tell: 2 arms with 2 repeats cannot show")
    assert "starts seem to differ less: run A and run B." in row["note"]  # the builder names starts alike
    (steps, chunks) = run(1.0)
    other = compare(*run(2.0), steps.assign(engine=steps["engine"] + " of B"), chunks).set_index("metric").loc["e2e_s"]
    assert (other["verdict"], "shared a start" in other["note"]) == ("better", False)


def test_unpaired_times_have_no_verdict_however_clear_they_look():
    row = compare(*run(9.0), *run(1.0, recording="other")).set_index("metric").loc["e2e_s"]
    assert row["low"] > 1
    assert row["verdict"].startswith("too few to tell: not the same requests, and what starts")
