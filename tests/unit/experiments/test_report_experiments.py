"""Each experiment of the catalogue has the parts that its question needs, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import a_step
from html_reader import Page
from planted import planted
from reports import report, run_of

from labkit.core.records import StepRecord
from labkit.experiments.catalogue import EXPERIMENTS

ASKED: dict[str, Any] = {"profile": "cpu-smollm2"}
QUESTIONS = {each.name: each.question for each in EXPERIMENTS}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))


def parts(page: Page) -> list[str]:
    """The headings of the results."""
    return [part.strip() for part in page.parts if part.strip() in PARTS]


PARTS = (
    "Task success", "The arms", "Effects of the layers", "Growth with the steps", "Drafters", "Capacity",
    "Agents in company", "Turn by turn", "Times", "Where the seconds went", "Energy",
)  # fmt: skip


def test_a_factorial_with_cold_and_warm_passes_tells_them_apart():
    arms = ("base", "prefix", "spec", "prefix+spec")
    made = [step for cache in ("cold", "warm") for step in planted(arms, turns=1, repeats=1, cache=cache)]
    page = report(run_of("factorial", made, ASKED))
    assert QUESTIONS["factorial"] in page.text
    assert "Effects of the layers" in parts(page)
    assert "End to end (cold)" in page.text
    assert "End to end (warm)" in page.text
    assert "20 cold and 20 warm" in page.text


def test_steps_show_growth():
    made: list[StepRecord] = []
    for arm, cached in (("base", 0), ("prefix", 80)):
        for count in (2, 4, 8):
            for turn in range(1, count + 1):
                hit = cached * (turn - 1)
                made.append(
                    a_step(
                        arm=arm, turn=turn, condition=f"steps={count}", recording="r", t_send=0.0,
                        t_end=(100 * turn - hit) / 1000, prompt_tokens=100 * turn, cached_tokens=hit,
                        completion_tokens=10,
                    )
                )  # fmt: skip
    page = report(run_of("steps", made, ASKED))
    assert QUESTIONS["steps"] in page.text
    assert "Growth with the steps" in parts(page)
    assert "prefix 8 1" in page.text
    assert "prompt tokens computed" in page.text


def test_speculation_shows_drafters():
    made = [
        a_step(
            arm=arm, condition=condition, recording="r", turn=turn, kind="act", t_end=2.0 if told else 3.0,
            text_sha256="same", **told,
        )
        for turn in range(1, 7)
        for arm, condition, told in (
            ("prefix+spec", "method=ngram", {"drafts": 2, "drafted_tokens": 8, "accepted_tokens": 6}),
            ("prefix", "method=none", {}),
        )
    ]  # fmt: skip
    growth = {"drafts": 12, "drafted_tokens": 48, "accepted_tokens": 36, "accepted_per_position": [12, 9]}
    counters = {
        "type": "counters", "arm": "prefix+spec", "repeat": 0, "recording": "r", "condition": "method=ngram",
        "cache": "cold", "processes": {"engine": {"before": {}, "after": {}, "growth": growth, "restarted": None}},
    }  # fmt: skip
    page = report(run_of("speculation", made, ASKED, [counters]))
    assert "Drafters" in parts(page)
    assert "all ngram 6 48 36 75 %" in page.text
    assert "6 of 6" in page.text
    abstract = page.text.split("Method")[0]
    assert "whether requests got faster is too few to tell (2.00x, n = 6 pairs of 1 task, 1 engine start)" in abstract
    assert "made a request" not in abstract


def test_repeats_on_one_start_have_no_verdict_and_the_limits_say_why():
    kept = planted(turns=1, repeats=3, engine="kept")
    page = report(run_of("quick", kept, {**ASKED, "repeats": 3}))
    assert "were served by one start of an engine: how much starts differ cannot be seen" in page.text
    assert "too few to tell of" in page.text.split("Method")[0]
    own = report(run_of("factorial", planted(turns=1, repeats=3), {**ASKED, "repeats": 3, "seed": 0}))
    assert "were served by one start" not in own.text
    assert "made a request" in own.text.split("Method")[0]


@pytest.mark.parametrize(("experiment", "repeats", "fixed"), [("interference", 1, True), ("interference", 2, False),
                                                              ("capacity", 2, True)])  # fmt: skip
def test_the_order_is_the_one_that_it_was_and_not_that_of_another_seed(experiment, repeats, fixed):
    serving = {"type": "serving", "block": 0, "arm": "base", "label": "base", "repeat": 0, "engine": "e"}
    both = [*under_load(), a_step(arm="prefix", condition="agents=1")]
    page = report(run_of(experiment, both, {**ASKED, "seed": 0, "repeats": repeats}, [serving]))
    assert ("base 1 (fixed: drift" in page.text) == fixed
    assert ("base 1 (shuffled, seed 0)" in page.text) == (not fixed)
    assert ("The arms were measured in a fixed order" in page.text) == fixed


def window(agents: int, start: float) -> dict[str, Any]:
    return {
        "type": "window", "arm": "base", "condition": f"agents={agents}", "repeat": 0, "agents": agents, "start": start,
        "end": start + 10.0, "close": start + 10.0, "sent": agents * 3, "cut": 0, "gaps": False,
    }  # fmt: skip


def under_load() -> list[StepRecord]:
    return [
        a_step(
            agent=f"{agent}.0", turn=turn, condition=f"agents={agents}", recording="r", completion_tokens=12,
            t_send=start + 3.0 * turn - 3 + agent * 0.3, t_first_token=start + 3.0 * turn - 2.9 + agent * 0.3,
            t_last=start + 3.0 * turn - 1.5, t_end=start + 3.0 * turn - 1.5,
        )
        for agents, start in ((1, 0.0), (3, 20.0))
        for agent in range(agents)
        for turn in (1, 2, 3)
    ]  # fmt: skip


@pytest.mark.parametrize("experiment", ["interference", "capacity"])
def test_runs_under_load_show_company_and_not_what_needs_fixed_requests(experiment):
    page = report(run_of(experiment, under_load(), ASKED, [window(1, 0.0), window(3, 20.0)]))
    assert QUESTIONS[experiment] in page.text
    assert "Agents in company" in parts(page)
    assert ("Capacity" in parts(page)) == (experiment == "capacity")
    assert "base 3 9 (3" in page.text
    assert not {"Effects of the layers", "Turn by turn"} & set(parts(page))


def test_an_experiment_that_this_labkit_does_not_know_is_shown_as_far_as_it_can_be():
    page = report(run_of("from-the-future", [a_step()], {"colour": "blue"}))
    assert "What came of from-the-future?" in page.text
    assert "asked with colour blue" in page.text
    assert "The arms" in parts(page)
