"""Prefix caching in words and numbers: what was saved and lost, and the sentence for each thing that is missing."""

from __future__ import annotations

import pickle

import pytest
from layer_runs import opened, step, steps
from synthetic import failed

from labkit.experiments.dashboard.layers.prefix import prefix_section
from labkit.experiments.dashboard.layers.rows import condition_words, layer_here

SERVING = [("serving", {"arm": "prefix", "repeat": 0, "block_size": 32})]
PREFILL_BASE, PREFILL_PREFIX = 0.6 + 0.8 + 1.0 + 1.2 + 1.4, 0.6 + 0.2 + 0.208 + 0.216 + 0.224


def facts(section) -> dict[str, tuple[str, str]]:
    return {fact.label: (fact.value, fact.note) for fact in section.facts}


def test_the_sentence_says_share_ceiling_and_seconds(tmp_path):
    section = prefix_section(opened(tmp_path, steps("base", "prefix")), "prefix", "cold", None)
    assert section.finding == (
        "Under prefix, 71 % of the prompt tokens came from the cache, all that any cache could have served, which "
        "saved 3.55 s of 5.00 s of prefill over the 5 steps that base finished, too."
    )
    assert pytest.approx(3.552) == PREFILL_BASE - PREFILL_PREFIX
    assert facts(section)["Hit rate"] == ("71 %", "ceiling 71 %")
    assert facts(section)["Prefill saved"] == ("3.55 s", "of 5.00 s, n = 5")
    assert facts(section)["First-token gain"][1] == "too few to tell"
    assert section.unpaired is None
    assert section.saved.without_s == pytest.approx((0.6, 0.8, 1.0, 1.2, 1.4))
    assert section.saved.with_s == pytest.approx((0.6, 0.2, 0.208, 0.216, 0.224))
    assert len(pickle.dumps(section)) < 20_000


def test_a_cache_that_cost_time_says_so_and_few_steps_are_called_few(tmp_path):
    slow = [step("base", 1, prefill_s=0.5), step("prefix", 1, prefill_s=0.75)]
    said = prefix_section(opened(tmp_path, slow), "prefix", "cold", None).finding
    assert "no cache could have served any: nothing that was sent had been seen before" in said
    assert "it took 250 ms longer over the 1 step that base finished, too (too few to tell)" in said


def test_losses_have_a_reason_a_cost_and_something_to_do(tmp_path):
    rows = steps("base", "prefix", turns=3)
    ceiling = 792
    rows[-1] = step("prefix", 3, cached_tokens=ceiling - 64, prefill_s=0.272)  # 272 of 1000 tokens computed
    lost = prefix_section(opened(tmp_path, rows, SERVING), "prefix", "cold", None).losses
    assert lost.by_why == (("evicted", 64), ("rounded off", 8))
    assert (lost.n, lost.tokens, lost.prompt) == (1, 72, 2400)
    (worst,) = lost.worst
    assert (worst.task, worst.turn, worst.lost, worst.why) == ("t1", 3, 72, "evicted")
    assert worst.cost_s == pytest.approx(0.072)
    assert "fewer agents at once" in lost.do[0]
    assert "A block has 32 tokens" in lost.do[1]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"reachable_tokens": 792 - 64}, "in another process"),
        ({"reachable_tokens": None}, "evicted or in another process"),
        ({"append_tokens": 900, "cached_tokens": 792}, "template drift"),
    ],
)
def test_each_loss_is_told_by_its_own_name(tmp_path, changes, why):
    rows = [*steps("prefix", turns=2), step("prefix", 3, **{"cached_tokens": 792 - 64, **changes})]
    lost = prefix_section(opened(tmp_path, rows), "prefix", "cold", None).losses
    assert lost.worst[0].why == why


def test_without_its_twin_it_shows_what_it_has_and_how_to_have_the_rest(tmp_path):
    section = prefix_section(opened(tmp_path, steps("prefix")), "prefix", "cold", None)
    assert section.unpaired is not None
    assert "base was not measured" in section.unpaired.words
    assert section.unpaired.command == "labkit replay tiny --arms base,prefix"
    assert facts(section)["Prefill saved"] == ("–", "not paired")
    assert section.finding.endswith("all that any cache could have served.")
    assert section.tokens.turns == (1, 2, 3, 4, 5)


def test_an_engine_that_told_nothing_is_no_engine_that_cached_nothing(tmp_path):
    silent = steps("base", "prefix", cached_tokens=None, prefill_s=None)
    section = prefix_section(opened(tmp_path, silent), "prefix", "cold", None)
    assert "did not say how many prompt tokens came from its cache" in section.finding
    assert facts(section)["Hit rate"] == ("–", "ceiling 71 %")
    assert facts(section)["Lost"] == ("–", "")
    assert section.losses.worst == ()


def test_failed_steps_and_toggled_ones_are_counted_and_in_no_pair(tmp_path):
    toggled = [step("prefix", 6, condition="toggled from base"), step("base", 6)]
    rows = [*steps("base", "prefix", turns=4), failed("prefix", 5), step("base", 5), *toggled]
    section = prefix_section(opened(tmp_path, rows), "prefix", "cold", None)
    assert section.notes == (
        "1 of 5 steps under prefix failed: in no time and no share.",
        "1 step came under prefix by a toggle: in no share and in no pair.",
    )
    assert section.saved.n == 4


def test_one_condition_alone_can_be_looked_at(tmp_path):
    rows = [step(arm, turn, condition=f"steps={n}") for arm in ("base", "prefix") for n in (1, 3)
            for turn in range(1, n + 1)]  # fmt: skip
    run = opened(tmp_path, rows)
    assert layer_here(run, "prefix_caching").conditions == ("steps=1", "steps=3")
    assert prefix_section(run, "prefix", "cold", "steps=1").saved.n == 1
    assert prefix_section(run, "prefix", "cold", None).saved.n == 4
    assert condition_words("steps=3") == "first 3 steps"


def test_live_agents_and_agents_under_load_are_not_paired(tmp_path):
    rows = steps("base", "prefix")
    live = opened(tmp_path, rows, [("outcome", {"arm": "base", "reached": True})])
    assert "Live agents decided" in (prefix_section(live, "prefix", "cold", None).unpaired or live).words


@pytest.mark.parametrize(
    ("arms", "layer", "command"),
    [
        (("base", "prefix"), "speculation", "labkit replay tiny --arms base,spec"),
        (("base",), "prefix_caching", "labkit replay tiny --arms base,prefix"),
    ],
)
def test_a_run_without_the_layer_says_which_arms_to_run(tmp_path, arms, layer, command):
    here = layer_here(opened(tmp_path, steps(*arms)), layer)
    assert here.arms == ()
    assert here.missing.startswith("No arm of this run had ")
    assert here.command == command


def test_a_layer_that_was_refused_keeps_the_engines_words(tmp_path):
    refused = [("refused", {"arm": "spec", "repeat": 0, "message": "no such drafter"})]
    here = layer_here(opened(tmp_path, steps("base"), refused, arms=["base", "spec"]), "speculation")
    assert "spec was refused: no such drafter" in here.missing


def test_a_run_in_which_nothing_counts_says_why(tmp_path):
    run = opened(tmp_path, [], arms=["base", "prefix"])
    assert layer_here(run, "prefix_caching").missing == "No step of this run counts in an arm of the lab."


def test_a_run_that_was_not_asked_about_arms_gets_the_quick_look(tmp_path):
    here = layer_here(opened(tmp_path, steps("prefix"), experiment="agent", recording=None), "pd_split")
    assert here.command == "labkit run quick --arms base,pd"
