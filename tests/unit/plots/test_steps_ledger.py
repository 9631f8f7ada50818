"""Seconds of a step by the number of steps: sums that a hand can check, and a drawing that says the same."""

import pandas as pd
import pytest
from builders import a_step, frame_of

from labkit.core.records import StepRecord
from labkit.plots.steps_ledger import TITLE, steps_ledger_figure, steps_ledger_info
from labkit.plots.theme import MODES, part_color


def cut(arm: str, count: int, prefill_s: float, repeat: int = 0, **changes: object) -> list[StepRecord]:
    """Prefill as told, 0.5 s decode, 0.25 s of a tool, 0.05 s that no clock names."""
    return [
        a_step(
            arm=arm, turn=turn, repeat=repeat, condition=f"steps={count}", recording="r", t_send=2.0 * turn,
            t_end=2.0 * turn + prefill_s + 0.55, prefill_s=prefill_s, decode_s=0.5, queue_s=0.0, tool_name="look",
            tool_s=0.25, **changes,
        )
        for turn in range(1, count + 1)
    ]  # fmt: skip


def run() -> pd.DataFrame:
    base = [*cut("base", 1, 0.1), *cut("base", 2, 0.2), *cut("base", 2, 0.4, repeat=1)]
    return frame_of([*base, *cut("prefix", 1, 0.1), *cut("prefix", 2, 0.05)])


def test_a_bar_is_the_mean_of_a_step_over_all_whole_passes_of_its_count():
    info = steps_ledger_info(run())
    assert list(info.panels) == ["base", "prefix"]
    one, two = info.panels["base"]
    assert (one.steps, one.n, one.passes, two.steps, two.n, two.passes) == (1, 1, 1, 2, 4, 2)
    assert two.parts["prefill"] == pytest.approx(0.3)
    assert [two.parts[part] for part in ("decode", "tool", "other")] == pytest.approx([0.5, 0.25, 0.05])
    assert two.total_s == pytest.approx(1.1)
    assert info.names == ("prefill", "decode", "tool", "other")
    assert "base: 900 ms at 1 step, 1.10 s at 2, of it 300 ms prefill" in info.caption.alt
    assert "1 pass per bar" in info.caption.note


@pytest.mark.parametrize("mode", MODES)
def test_panels_stand_side_by_side_on_one_scale_and_the_legend_names_a_part_once(mode):
    figure = steps_ledger_figure(steps_ledger_info(run()), mode)
    assert [(bar.name, bar.xaxis, bar.showlegend) for bar in figure.data][::4] == [
        ("prefill", "x", True),
        ("prefill", "x2", False),
    ]
    assert list(figure.data[0].y) == pytest.approx([0.1, 0.3])
    assert figure.data[0].marker.color == part_color("prefill", mode)
    assert figure.layout.yaxis.range == figure.layout.yaxis2.range
    assert {"900 ms", "1.10 s", "850 ms"} <= {note.text for note in figure.layout.annotations}


def test_a_broken_pass_and_one_without_the_engines_times_make_no_bar():
    broken = cut("base", 2, 0.1)[:1]
    untold = [a_step(condition="steps=1", arm="prefix", recording="r")]
    info = steps_ledger_info(frame_of([*cut("base", 1, 0.1), *broken, *untold]))
    assert {arm: [bar.steps for bar in bars] for arm, bars in info.panels.items()} == {"base": [1]}


def test_nothing_to_draw_is_said_in_a_sentence():
    info = steps_ledger_info(frame_of([a_step()]))
    assert "labkit run steps" in info.caption.empty
    figure = steps_ledger_figure(info)
    assert not figure.data
    assert TITLE.split()[0] in figure.layout.title.text
