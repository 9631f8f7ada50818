"""The eviction cliff: its arithmetic on a real recording, and what is said of made-up levels."""

from __future__ import annotations

import pytest

from labkit.analysis.load_row import LoadRow
from labkit.analysis.tables import typed_frame
from labkit.core.errors import BadInput
from labkit.experiments.lessons import cliff, cliff_seen
from labkit.experiments.lessons.told import Unmeasured
from labkit.store.runs import RunStore

SMALL = "cpu-smollm2+num-gpu-blocks-override=129+max-model-len=2048"
QUESTION = {"profile": SMALL, "recordings": ["evict-one-late-live"], "steps": 5, "agents": [1, 3, 6]}


def level(agents: int, rate: float | None, n: int = 20, ttft: float | None = 0.5) -> LoadRow:
    known: dict[str, object] = {
        "arm": "prefix", "agents": agents, "n_windows": 1, "n_agent_runs": 6, "n_sent": n, "n_failed": 0,
        "in_flight": 1.0, "n_gaps": 9, "n_stalls": 0, "lost_s": 0.0, "too_few": False, "hit_rate": rate,
        "hit_ceiling": 0.8, "ttft_p50_s": ttft,
    }  # fmt: skip
    return LoadRow.from_dict(known)


def levels(*rows: LoadRow):
    return typed_frame(LoadRow, rows)


class TestPrediction:
    cache = cliff.small_cache(SMALL)
    lives = cliff.turns_of(QUESTION)
    need = cliff.need_of(lives, 32)

    def test_one_block_is_the_engines_own(self):
        assert (self.cache.blocks, self.cache.block_size) == (128, 32)
        assert self.cache.words == "128 blocks of 32 tokens, 4,096 in all"
        with pytest.raises(BadInput, match="num-gpu-blocks-override"):
            cliff.small_cache("cpu-smollm2")

    def test_what_an_agent_holds_is_what_its_recording_counted(self):
        (turns,) = self.lives
        assert [turn.prompt for turn in turns] == [672, 769, 834, 968, 1033]
        assert [turn.shared for turn in turns] == [0, 751, 804, 860, 1000]
        assert list(cliff.need_table(self.lives, 32)["blocks"]) == [24, 26, 27, 32, 34]
        assert (self.need.most, self.need.mean) == (34, pytest.approx(28.6))

    def test_where_the_cliff_is(self):
        assert (self.need.whole(self.cache), self.need.gone(self.cache)) == (3, 6)
        assert self.need.fits(self.cache) == pytest.approx(128 / 28.6)
        assert "3 agents fit at any time and 4.5 on average, and with 6 or more" in self.need.in_words(self.cache)

    def test_turn_by_turn_it_is_the_same_cliff(self):
        rows = {row.agents: row for row in cliff.predicted(self.lives, [1, 3, 8], self.cache)}
        assert list(rows) == [1, 2, 3, 4, 5, 6, 7, 8]
        assert rows[1].hit_rate == rows[4].hit_rate == rows[1].hit_ceiling
        assert 0 < rows[5].hit_rate < rows[5].hit_ceiling
        assert rows[6].hit_rate == rows[8].hit_rate == 0

    def test_the_way_down_is_told_in_full(self):
        rows = cliff.predicted(self.lives, [6], self.cache)
        table = cliff.predicted_table(rows)
        assert list(table["kept of it"]) == ["100 %"] * 4 + [f"{100 * (rows[4].kept or 0):.0f} %", "0 %"]
        assert cliff.predicted_in_words(rows, self.need.fits(self.cache)) == (
            "The cache is full at 4.5 agents. Played turn by turn it keeps, of what an infinite one would serve, "
            f"everything up to 4 agents, {table.loc[5, 'kept of it']} with 5 and nothing from 6 on."
        )

    def test_agents_that_all_fit_have_no_way_down(self):
        assert cliff.predicted_in_words(cliff.predicted(self.lives, [2], self.cache), 4.5).endswith(
            "everything up to 2 agents."
        )

    def test_a_recording_without_counts_is_refused(self, tmp_path):
        from synthetic import recording

        from labkit.traffic.recording import save

        path = save(recording(), tmp_path / "tiny.jsonl")
        with pytest.raises(BadInput, match="token counts"):
            cliff.turns_of({**QUESTION, "recordings": [str(path)]})

    def test_the_prediction_is_about_what_is_asked(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
        with RunStore().create("interference", {"profile": "other"}, {}) as writer:
            pass
        assert cliff.asked("live", QUESTION, writer.id) is QUESTION
        assert cliff.asked("stored", QUESTION, writer.id)["profile"] == "other"


class TestSeen:
    cache, need = TestPrediction.cache, TestPrediction.need

    def falls(self, *rows: LoadRow):
        return cliff_seen.falls_where_predicted(levels(*rows), self.need, self.cache)

    def test_as_predicted(self):
        holds, saw = self.falls(level(1, 0.8), level(3, 0.76), level(4, 0.5), level(6, 0.08, n=12), level(8, 0.04))
        assert holds
        assert saw == (
            "with 1 and 3 agents the cache served at least 95 % of what an infinite one could have, and with 6 and 8 "
            "agents at most 10 % (n = 12 requests or more at each level)"
        )

    @pytest.mark.parametrize("rows", [(level(1, 0.5), level(6, 0.0)), (level(1, 0.8), level(6, 0.5))])
    def test_a_surprise(self, rows):
        assert self.falls(*rows).holds is False

    @pytest.mark.parametrize(
        "rows", [(level(1, 0.8), level(4, 0.2)), (level(1, None), level(6, 0.1)), (level(1, 0.8, n=3), level(6, 0.0))]
    )
    def test_too_few_to_tell(self, rows):
        assert self.falls(*rows).holds is None

    def test_a_table_in_words(self):
        table = cliff_seen.cliff_table(
            levels(level(1, 0.8), level(6, None)), cliff.predicted(TestPrediction.lives, [2], self.cache)
        )
        assert list(table.index) == [1, 2, 6]
        assert dict(table.loc[1]) == {
            "requests": "20", "kept, predicted": "100 %", "kept, measured": "100 %", "hit rate": "80 %",
            "ceiling": "80 %", "TTFT (median)": "500 ms",
        }  # fmt: skip
        assert list(table.loc[2]) == ["–", "100 %", "–", "–", "–", "–"]
        assert (table.loc[6, "kept, predicted"], table.loc[6, "hit rate"], table.loc[6, "kept, measured"]) == ("–",) * 3

    def test_a_disturbed_run_tells_rates_and_no_time(self):
        rows, why = levels(level(1, 0.8), level(6, 0.0)), "run r1 was cancelled"
        assert "TTFT (median)" not in cliff_seen.cliff_table(rows, [], why)
        told = cliff_seen.costs_the_first_token(rows, self.need, self.cache, why)
        assert told == (None, "run r1 was cancelled, so no time is shown")
        assert isinstance(told.saw, Unmeasured)
        assert "TTFT (median)" in cliff_seen.cliff_table(rows, [])

    def test_what_it_costs(self):
        rows = levels(level(1, 0.8), level(3, 0.8, ttft=0.6), level(6, 0.0, n=12, ttft=9.0))
        assert cliff_seen.costs_the_first_token(rows, self.need, self.cache) == (
            True,
            "the median time to first token was 600 ms with 3 agents and 9.00 s with 6 (n = 20 and 12 requests)",
        )
        cheap = levels(level(3, 0.8, ttft=0.6), level(6, 0.0, ttft=1.2))
        assert cliff_seen.costs_the_first_token(cheap, self.need, self.cache).holds is False
        few = levels(level(3, 0.8, ttft=0.6), level(6, 0.0, n=4, ttft=9.0))
        assert cliff_seen.costs_the_first_token(few, self.need, self.cache).holds is None
        assert cliff_seen.costs_the_first_token(levels(level(1, 0.8)), self.need, self.cache).holds is None
