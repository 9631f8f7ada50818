"""Hit rates by number of agents and ceilings by block size: the numbers that they draw, and that they draw."""

from __future__ import annotations

import pytest
from builders import a_step, frame_of

from labkit.analysis.block_sizes import by_block_size
from labkit.analysis.load_row import LoadRow
from labkit.analysis.tables import typed_frame
from labkit.analysis.turn_taking import TurnTakingRow
from labkit.core.records import StepRecord
from labkit.plots.agents_cache import agents_cache_figure, agents_cache_info
from labkit.plots.block_sizes import block_sizes_figure, block_sizes_info
from labkit.plots.theme import MODES


def load_row(agents: int, rate: float | None, n: int = 20) -> LoadRow:
    known: dict[str, object] = {
        "arm": "prefix", "agents": agents, "n_windows": 1, "n_agent_runs": 6, "n_sent": n + 1, "n_failed": 1,
        "in_flight": 1.0, "n_gaps": 9, "n_stalls": 0, "lost_s": 0.0, "too_few": False, "hit_rate": rate,
        "hit_ceiling": 0.78,
    }  # fmt: skip
    return LoadRow.from_dict(known)


FORESEEN = [
    TurnTakingRow(agents=8, hit_rate=0.0, hit_ceiling=0.78),
    TurnTakingRow(agents=1, hit_rate=0.78, hit_ceiling=0.78),
]


class TestAgents:
    rows = typed_frame(LoadRow, [load_row(8, 0.039, n=31), load_row(1, 0.78)])

    def test_numbers(self):
        info = agents_cache_info(self.rows, FORESEEN, 4.5)
        (line,) = info.lines
        assert (line.arm, line.agents, line.rates, line.ceilings) == ("prefix", (1, 8), (0.78, 0.039), (0.78, 0.78))
        assert line.kept == pytest.approx((1, 0.05))
        assert line.requests == (20, 31)
        assert info.predicted == ((1, 1.0), (8, 0.0))
        assert "20 to 31 requests a point" in info.caption.note
        assert "Upright: the cache is full at 4.5 agents." in info.caption.note
        assert info.caption.alt == "Kept of the ceiling. prefix: 100 % with 1, 5.0 % with 8"
        assert info.caption.title.endswith("?")

    @pytest.mark.parametrize("mode", MODES)
    def test_drawing(self, mode):
        figure = agents_cache_figure(agents_cache_info(self.rows, FORESEEN, 4.5), mode)
        assert [trace.name for trace in figure.data] == ["predicted", "prefix: measured"]
        assert figure.data[1].y == pytest.approx((1, 0.05))
        assert figure.layout.shapes[0].x0 == 4.5

    def test_without_a_prediction_there_is_none_to_be_seen(self):
        info = agents_cache_info(self.rows)
        figure = agents_cache_figure(info)
        assert [trace.name for trace in figure.data] == ["prefix: measured"]
        assert not figure.layout.shapes
        assert "Dashed" not in info.caption.note

    @pytest.mark.parametrize("rows", [[], [load_row(1, None)]], ids=["no window", "no rate"])
    def test_what_was_not_measured_is_a_sentence(self, rows):
        info = agents_cache_info(typed_frame(LoadRow, rows), FORESEEN)
        assert "labkit run interference" in info.caption.empty
        assert not agents_cache_figure(info).data


class TestBlockSizes:
    steps = frame_of([a_step(prompt_tokens=200, shared_tokens=150, completion_tokens=1)])

    def test_numbers(self):
        info = block_sizes_info(by_block_size(self.steps, (32, 128)), 32)
        assert (info.sizes, info.ceilings, info.shared, info.engine) == ((32, 128), (128 / 200, 128 / 200), 0.75, 32)
        assert "32: 64 %; 128: 64 %; 1 step" in info.caption.alt
        assert block_sizes_info(by_block_size(self.steps, (32, 128)), 16).engine is None

    @pytest.mark.parametrize("mode", MODES)
    def test_drawing(self, mode):
        figure = block_sizes_figure(block_sizes_info(by_block_size(self.steps, (32, 128)), 32), mode)
        assert figure.data[0].x == ("32", "128")
        assert figure.data[0].marker.pattern.shape == ("", "/")

    def test_nothing_measured(self):
        info = block_sizes_info(by_block_size(frame_of([], StepRecord)))
        assert "shared tokens" in info.caption.empty
        assert not block_sizes_figure(info).data
