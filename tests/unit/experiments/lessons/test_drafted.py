"""What a run says to each prediction on drafts: held, not held, or too few to tell, with the numbers in the clause."""

from __future__ import annotations

import pandas as pd
import pytest
from builders import a_step, frame_of

from labkit.analysis.draft_rounds import round_table
from labkit.analysis.drafters import drafter_table
from labkit.core.records import StepRecord
from labkit.experiments.lessons import draft_seconds, draft_tables, drafted, same_text
from labkit.experiments.lessons.told import Unmeasured
from labkit.store.said import Said

PROMISES = pd.DataFrame({"method": ["ngram", "draft_model"], "k": [4, 3], "passes": [1.0, 4.0]})
TIMES = {"t_send": 0.0, "t_first_token": 0.5, "completion_tokens": 21, "text_sha256": "x"}


def without(turn: int, **changes: object) -> StepRecord:
    told = {"arm": "prefix", "condition": "method=none", "t_last": 2.5, "t_end": 2.5}
    return a_step(**{**TIMES, **told, "turn": turn, **changes})


def with_drafts(turn: int, method: str, accepted: int, decode_s: float, **changes: object) -> StepRecord:
    """Five rounds of four tokens."""
    end = 0.5 + decode_s
    told = {"arm": "prefix+spec", "condition": f"method={method}", "t_last": end, "t_end": end}
    drafts = {"drafts": 5, "drafted_tokens": 20, "accepted_tokens": accepted}
    return a_step(**{**TIMES, **told, **drafts, "turn": turn, **changes})


def steps(ngram: tuple[int, float] = (10, 1.0), model: tuple[int, float] = (15, 2.0), turns: int = 5) -> pd.DataFrame:
    """Accepted tokens and seconds of decoding of each drafter; two seconds without. Each turn is of its own task."""
    rows = []
    for turn in range(1, turns + 1):
        task = {"task": f"t{turn}"}
        rows += [without(turn, **task)]
        rows += [with_drafts(turn, "ngram", *ngram, **task), with_drafts(turn, "draft_model", *model, **task)]
    return frame_of(rows)


def test_who_guesses_better_is_told_with_tokens_a_round_and_n():
    held, saw = drafted.guessed(drafter_table(steps()))
    assert held is True
    assert saw == (
        "ngram had 50 % of 100 drafted tokens accepted, 3.00 tokens a round (n = 5 steps of 5 tasks) and draft_model "
        "had 75 % of 100 drafted tokens accepted, 4.00 tokens a round (n = 5 steps of 5 tasks)"
    )
    assert drafted.guessed(drafter_table(steps(model=(5, 2.0)))).holds is False
    four = drafted.guessed(drafter_table(steps(turns=4)))
    assert four.holds is None
    assert four.saw.endswith("(n = 4 steps of 4 tasks); what holds for other tasks is told from 5 tasks on")
    many_steps = steps(turns=12).assign(task="one")
    assert drafted.guessed(drafter_table(many_steps)).holds is None  # steps of one task are not tasks
    alone = drafted.guessed(drafter_table(frame_of([with_drafts(1, "ngram", 10, 1.0)])))
    assert isinstance(alone.saw, Unmeasured)
    assert alone.saw.startswith("nothing was drafted by draft_model; ngram had 50 %")


def test_rounds_that_last_longer_than_promised_are_a_surprise_of_their_own_drafter():
    table = round_table(steps(ngram=(10, 1.25), model=(15, 2.0)))
    kept = draft_seconds.rounds_last(table, PROMISES, "draft_model")
    assert kept.holds is True  # the model takes 1.5 s in 5 rounds of 0.1 s: 4 passes
    assert kept.saw == (
        "in this run a round of draft_model lasted 4.00 passes where the formula has 4.00 (n = 5 pairs of 5 tasks)"
    )
    longer = draft_seconds.rounds_last(table, PROMISES, "ngram")
    assert longer.holds is False
    assert "a round of ngram lasted 1.50 passes where the formula has 1.00" in longer.saw
    assert draft_seconds.rounds_last(round_table(steps(turns=3)), PROMISES, "ngram").holds is None
    assert isinstance(draft_seconds.rounds_last(round_table(steps()[:0]), PROMISES, "ngram").saw, Unmeasured)


def test_who_pays_is_told_by_seconds_given_and_taken():
    table = round_table(steps(ngram=(10, 1.5), model=(15, 2.5)))
    pays, costs = (draft_seconds.pays(table, PROMISES, method) for method in ("ngram", "draft_model"))
    assert pays.holds is costs.holds is True
    assert "in this run ngram yielded 3.00 tokens a round where 1.00 break even, gave 5.00 s and took 2.50" in pays.saw
    assert "decoding was 1.33x as fast (n = 5 pairs of 5 tasks)" in pays.saw
    assert "decoding was 1.25x as long" in costs.saw
    assert draft_seconds.pays(round_table(steps(ngram=(10, 2.5))), PROMISES, "ngram").holds is False


def test_a_drafter_whose_cost_is_not_known_is_held_against_nothing():
    unknown = PROMISES.assign(passes=[1.0, None])
    for found in (draft_seconds.pays, draft_seconds.rounds_last):
        assert isinstance(found(round_table(steps()), unknown, "draft_model").saw, Unmeasured)


def test_tool_calls_are_told_apart_from_text():
    calls = [with_drafts(n, "ngram", 16, 1.0, tool_name="list_files", task=f"t{n}") for n in range(1, 6)]
    text = [with_drafts(n, "ngram", 4, 1.0, task=f"t{n}") for n in range(1, 6)]
    table = drafted.forms(frame_of([*calls, *text]))
    assert table[["says", "n", "a_round", "rate", "length"]].to_numpy().tolist() == [
        ["tool call", 5, 4.0, 0.8, 4.2], ["free text", 5, 4.0, 0.2, 1.8],
    ]  # fmt: skip
    held, saw = drafted.calls_guess_better(table, "ngram")
    assert held is True
    assert saw.startswith(
        "80 % of 100 tokens that ngram drafted for a tool call were accepted (n = 5 steps of 5 tasks) and"
    )
    turned = drafted.forms(frame_of([*calls, *(with_drafts(t, "ngram", 20, 1.0, task=f"t{t}") for t in range(1, 6))]))
    assert drafted.calls_guess_better(turned, "ngram").holds is False
    assert drafted.calls_guess_better(drafted.forms(frame_of([*calls, *text[:4]])), "ngram").holds is None
    assert drafted.calls_guess_better(table, "suffix") == (None, "suffix drafted nothing")


def test_a_share_has_no_interval_beyond_0_and_100_and_none_of_few_tasks():
    def table(accepted: tuple[int, ...]) -> pd.DataFrame:
        return drafted.forms(frame_of([with_drafts(n, "ngram", a, 1.0, task=f"t{n}") for n, a in enumerate(accepted)]))

    wide = table((0, 0, 0, 0, 20))
    assert wide.loc[0, "rate_low"] == 0.0  # Student's t goes to -36 %
    assert draft_tables.by_form(wide)["95 % interval"].tolist() == ["0 % to 76 %"]
    assert draft_tables.by_form(table((20,) * 5))["95 % interval"].tolist() == ["100 % in every task"]
    assert draft_tables.by_form(table((0, 10, 20, 20)))["95 % interval"].tolist() == ["–"]


def test_one_chance_for_all_positions_is_checked_against_what_rounds_yielded():
    rates = drafter_table(steps())
    even = pd.DataFrame(
        {"method": "ngram", "position": [1, 2], "drafts": 25, "accepted": [20, 16], "rate": [0.8, 0.64]}
    )
    held, saw = drafted.one_chance(even, rates, "ngram")
    assert held is True
    assert "80 % and 80 % were accepted at positions 1 to 2 (n = 25 rounds of 5 tasks)" in saw
    assert saw.endswith("a round would yield 2.44 tokens, and it yielded 3.00")
    rising = even.assign(rate=[0.5, 0.5])
    assert drafted.one_chance(rising, rates, "ngram").holds is False
    assert drafted.one_chance(even, rates, "suffix").holds is None


def test_late_turns_are_held_against_early_ones():
    rows = [with_drafts(turn, "ngram", 4 if turn < 6 else 16, 1.0, task=f"t{turn % 5}") for turn in range(1, 11)]
    held, saw = drafted.later_is_better(drafter_table(frame_of(rows)), "ngram")
    assert held is True
    assert "ngram had 20 % accepted in turns 1-5 [20 %, 20 %], 1.80 tokens a round (n = 5 steps of 5 tasks)" in saw
    flat = [with_drafts(turn, "ngram", 8, 1.0, task=f"t{turn % 5}") for turn in range(1, 11)]
    assert drafted.later_is_better(drafter_table(frame_of(flat)), "ngram").holds is False
    assert drafted.later_is_better(drafter_table(frame_of(flat[:9])), "ngram").holds is None


def test_rates_whose_intervals_touch_are_not_told_apart():
    table = pd.DataFrame(
        {"method": "ngram", "by": "turn", "group": ["1-5", "6-20"], "n": 15, "n_tasks": 5, "rate": [0.58, 0.67],
         "rate_low": [0.51, 0.18], "rate_high": [0.64, 1.0], "length": [3.1, 3.5]}
    )  # fmt: skip
    assert drafted.later_is_better(table, "ngram").holds is None
    assert drafted.later_is_better(table.assign(rate_low=[0.51, 0.65]), "ngram").holds is True
    assert drafted.later_is_better(table.assign(rate_high=[0.64, 0.5]), "ngram").holds is False
    few = drafted.later_is_better(table.assign(rate_low=[0.51, 0.65], n_tasks=4), "ngram")
    assert few.holds is None
    assert "[" not in few.saw  # an interval that is not proven is not shown


def test_a_later_first_token_is_told_as_the_time_it_took():
    held, saw = draft_seconds.first_token_stays(round_table(steps()), "ngram")
    assert held is True
    assert saw == "in this run the first token with ngram took 1.00x the time without (n = 5 pairs of 5 tasks)"
    late = steps()
    late.loc[late["condition"] == "method=draft_model", "t_send"] = -0.5
    assert draft_seconds.first_token_stays(round_table(late), "draft_model").holds is False
    assert draft_seconds.first_token_stays(round_table(late), "ngram").holds is True
    assert isinstance(draft_seconds.first_token_stays(round_table(late), "suffix").saw, Unmeasured)


def test_texts_are_compared_pair_by_pair():
    rows = steps(turns=3)
    assert same_text.all_the_same(same_text.unchanged(rows)).holds is True
    rows.loc[(rows["condition"] == "method=ngram") & (rows["turn"] == 2), ["text_sha256"]] = "y"
    table = same_text.unchanged(rows)
    assert table[["method", "n_pairs", "same_text", "same_length"]].to_numpy().tolist() == [
        ["ngram", 3, 2, 3], ["draft_model", 3, 3, 3],
    ]  # fmt: skip
    assert same_text.all_the_same(table) == (
        False, "in this run ngram left 2 of 3 texts of 3 tasks unchanged and draft_model left 3 of 3 texts of 3 tasks "
        "unchanged",
    )  # fmt: skip
    assert same_text.all_the_same(table[:0]).holds is None


def said(condition: str, text: str, turn: int = 1) -> Said:
    return Said(arm="a", task="t", agent="a0", repeat=0, turn=turn, t_send=0.0, recording="r", condition=condition,
                reply={"role": "assistant", "content": text})  # fmt: skip


def test_where_texts_part_is_shown_and_those_that_do_not_are_left_out():
    replies = [said("method=none", "one two"), said("method=ngram", "one six"), said("method=suffix", "one two"),
               said("method=ngram", "alone", turn=2)]  # fmt: skip
    (row,) = same_text.partings(replies).to_dict("records")
    assert (row["method"], row["turn"]) == ("ngram", 1)
    assert (row["without"][:2], row["with"][:2]) == ("tw", "si")
    assert not len(same_text.partings(replies[2:]))
    assert "tw" in same_text.partings_in_words(replies)
    assert same_text.partings_in_words([replies[0], replies[2]]) == "None of 1 reply parts from its pair."
    assert same_text.partings_in_words(replies[2:]).startswith("No reply was kept both")


@pytest.mark.parametrize("rows", [steps(), steps()[:0]], ids=["measured", "empty"])
def test_tables_are_written_for_a_reader_and_hold_no_number_that_was_not_measured(rows):
    rates, rounds = drafter_table(rows), round_table(rows)
    tables = [
        draft_tables.promised(PROMISES.assign(c=[0.0, None], most_tokens=5, most_gain=[5.0, None])),
        draft_tables.accepted(rates),
        draft_tables.seconds_of_rounds(rounds),
        draft_tables.shares_of_decoding(rounds),
        draft_tables.by_form(drafted.forms(rows)),
        draft_tables.texts(same_text.unchanged(rows).assign(run="r")),
    ]
    assert all(isinstance(value, str) for table in tables for value in table.to_numpy().ravel())
    assert tables[0].loc["draft_model"].tolist() == ["3", "–", "4.00", "5", "–"]
    if len(rows):
        assert tables[2].loc["ngram", "and lasts, passes"] == "1.00"
