"""How many agents fit, at planted rates: the numbers, the sentences, and where nothing can be said."""

from pathlib import Path

import pytest
from load_folders import under_load
from run_folders import ended
from synthetic import steps

from labkit.analysis.slo import Slo
from labkit.experiments.dashboard.money.capacity import CapacityView, answered, ask_for_it, served_of, sliders
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import RunStore

LIMIT = Slo(ttft_s=1.0, itl_s=0.5)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def opened(run: str) -> Opened:
    return Opened(RunStore().open(run))


def view(slo: Slo = LIMIT, **arms: dict[int, tuple[int, int]]) -> CapacityView:
    load = served_of(opened(under_load(arms)))
    assert load is not None
    return answered(load, slo)


def test_the_better_arm_comes_first_with_its_share_and_n():
    found = view(base={1: (40, 40), 2: (10, 40)}, prefix={1: (40, 40), 2: (38, 40), 4: (4, 40)})
    assert found.sentence == (
        "With 2 agents at once, prefix keeps TTFT <= 1 s and ITL p99 <= 0.5 s for 95 % of its requests (n 40; 90 % are "
        "asked for); base keeps it for 1 (n 40)."
    )
    assert [(each.arm, each.tile, each.doubt) for each in found.answers] == [
        ("base", "1 agent", ""), ("prefix", "2 agents", "")
    ]  # fmt: skip
    assert found.cells[1] == ("base", "2", "10 / 40", "25 %", found.cells[1][4], "2.00 s", "100 ms", "1.00", "no")
    assert [curve.arm for curve in found.info.curves] == ["base", "prefix"]


def test_the_highest_level_still_holds():
    found = view(prefix={1: (60, 60), 4: (60, 60)})
    assert found.answers[0].tile == "≥ 4 agents"
    assert found.sentence.startswith("With 4 agents at once, the most that were tried, prefix keeps")
    assert "4 or more agents (95 %: " in found.answers[0].words


def test_not_even_one():
    found = view(base={1: (2, 40)}, prefix={1: (10, 40)})
    assert [each.tile for each in found.answers] == ["< 1 agent", "< 1 agent"]
    assert found.sentence == (
        "No arm keeps TTFT <= 1 s and ITL p99 <= 0.5 s for 90 % of requests with even 1 agent: "
        "base for 5.0 % (n 40), prefix for 25 % (n 40)."
    )


def test_one_arm_may_have_none_while_another_has():
    found = view(base={1: (2, 40)}, prefix={1: (40, 40), 2: (0, 40)})
    assert found.sentence.endswith("; base keeps it for fewer than 1 (n 40).")
    assert found.answers[0].words.startswith("fewer than 1 agent (95 %: 0 to 0); alone, 5.0 % of 40 requests kept it")


def test_a_number_between_levels_says_so():
    found = view(prefix={4: (60, 60), 8: (48, 60)})  # 100 % and 80 %: 90 % is met at 6
    assert found.answers[0].tile == "6 agents"
    assert "90 % of its requests, read off between levels that were tried (n 120 in all)" in found.sentence


def test_too_few_to_tell_names_the_level():
    found = view(prefix={1: (5, 5), 2: (0, 5)})
    assert found.sentence.endswith("Too few requests to tell for prefix: read it as a first look.")
    assert found.answers[0].doubt == "too few to tell: 5 requests with 1 agent, 20 are needed next to the answer"


def test_a_moved_limit_changes_the_answer():
    arms = {"prefix": {1: (40, 40), 2: (10, 40)}}
    assert view(**arms).answers[0].tile == "1 agent"
    assert view(Slo(ttft_s=3.0, itl_s=0.5), **arms).answers[0].tile == "≥ 2 agents"
    assert view(Slo(ttft_s=1.0, itl_s=0.5, share=0.2), **arms).answers[0].tile == "≥ 2 agents"
    assert view(Slo(ttft_s=1.0, itl_s=0.05), **arms).answers[0].tile == "< 1 agent"
    assert view(Slo(ttft_s=1.0, itl_s=0.5, tpot_s=0.01), **arms).answers[0].tile == "< 1 agent"  # 0.02 s a token


def test_the_sliders_begin_where_the_run_was_asked():
    found = sliders(opened(under_load({"prefix": {1: (1, 1)}}, ttft=0.42, itl=0.5, share=0.8)).info)
    assert found.own
    assert (found.asked.ttft_s, found.asked.share) == (0.42, 0.8)
    assert 0.42 in found.ttft
    assert sorted(found.ttft) == list(found.ttft)
    assert not sliders(opened(under_load({"prefix": {1: (1, 1)}}, "interference")).info).own


def test_without_levels_the_command_asks_for_the_same_arms_and_base():
    run = opened(ended(steps(("prefix", "prefix+spec"))))
    assert served_of(run) is None
    assert ask_for_it(run.info) == "labkit run capacity --arms base,prefix,prefix+spec"
    assert ask_for_it(opened(ended(steps(("prefix",)), profile="my own.toml")).info) == (
        "labkit run capacity --profile 'my own.toml'"
    )
