"""Each figure's numbers (the info record) against known answers, then that it draws what it says."""

import pandas as pd
import pytest
from synthetic import failed, frame, step, steps

from labkit.plots.acceptance import acceptance_by_kind_figure, acceptance_by_kind_info
from labkit.plots.arms_overview import arms_overview_figure, arms_overview_info
from labkit.plots.cache_gap import cache_gap_figure, cache_gap_info
from labkit.plots.per_turn import per_turn_figure, per_turn_info
from labkit.plots.theme import MODES
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info
from labkit.plots.wall_ledger import finding, wall_ledger_figure, wall_ledger_info

EMPTY = frame([]).reindex(columns=list(step("base", 1).to_dict()))
TABLE = pd.DataFrame(
    {
        "arm": ["prefix", "base", "pd"],
        "n_steps": [4, 4, 2],
        "n_failed": [0, 0, 2],
        "e2e_s": [19.9, 11.6, 5.0],
        "e2e_paired_s": [9.2, 11.6, None],
        "ratio_to_base": [1.25, 1.0, None],
        "n_pairs": [4, 4, 0],
        "too_few": [True, False, True],
    }
)


def texts(figure) -> str:
    return " | ".join([figure.layout.title.text, *(note.text for note in figure.layout.annotations)])


def test_overview_shows_time_relative_to_base_in_the_order_of_the_arms():
    info = arms_overview_info(TABLE)
    assert [(bar.arm, bar.relative, bar.n) for bar in info.bars] == [
        ("base", 1.0, 4),
        ("prefix", 0.8, 4),
        ("pd", None, 0),
    ]
    assert "1.25x as fast, too few to tell" in info.bars[1].label
    assert "n = 4" in info.bars[1].label
    assert "2 failed" in info.bars[2].label


def test_overview_sums_the_seconds_of_the_pairs_that_it_counts():
    bars = arms_overview_info(TABLE).bars
    assert [bar.seconds for bar in bars] == [11.6, 9.2, 5.0]
    assert "9.20 s, n = 4" in bars[1].label
    assert "5.00 s in all its steps" in bars[2].label


def test_overview_draws_no_bar_for_what_was_not_measured_but_names_it():
    figure = arms_overview_figure(arms_overview_info(TABLE))
    assert list(figure.data[0].x) == [1.0, 0.8, None]
    assert "–" in texts(figure)


def test_overview_names_an_arm_that_was_asked_for_and_never_measured():
    info = arms_overview_info(TABLE, asked=["base", "all"])
    assert [bar.arm for bar in info.bars] == ["base", "prefix", "pd", "all"]
    assert info.bars[3].label == "– not measured"


def test_overview_without_base_says_so():
    info = arms_overview_info(TABLE[TABLE["arm"] == "prefix"].assign(ratio_to_base=None))
    assert info.bars[0].relative is None
    assert "no step in common with base" in info.bars[0].label


def test_per_turn_is_the_median_over_repeats_without_warmup():
    rows = [
        step("base", 1),
        step("base", 1, repeat=1, t_first_token=2.6),
        step("base", 1, warmup=True, t_first_token=99.0),
    ]
    info = per_turn_info(frame(rows))
    assert info.lines[0].seconds == (pytest.approx((0.6 + 2.6) / 2),)
    assert info.lines[0].n == 2


def test_per_turn_leaves_a_gap_where_a_step_failed():
    info = per_turn_info(frame([step("base", 1), failed("base", 2), step("base", 3)]))
    assert info.lines[0].seconds == (pytest.approx(0.6), None, pytest.approx(1.0))
    assert per_turn_figure(info).data[0].connectgaps is False


def test_per_turn_end_to_end():
    info = per_turn_info(frame(steps(("prefix+spec",), turns=2)), "e2e")
    assert info.lines[0].seconds == (pytest.approx(1.6), pytest.approx(0.2 + 1.0, abs=0.05))


@pytest.mark.parametrize("arm", ["base", "prefix", "pd", "all"])
def test_tokens_add_up_to_the_prompt(arm):
    info = tokens_per_turn_info(frame(steps((arm,), turns=5, repeats=2)), arm)
    totals = [sum(parts) for parts in zip(*info.parts.values(), strict=True)]
    assert totals == pytest.approx([600, 800, 1000, 1200, 1400])
    assert ("cached" in info.parts) == (arm in {"prefix", "all"})
    assert (info.transferred[0] is None) == (arm not in {"pd", "all"})


def test_tokens_that_were_not_split_are_not_called_computed():
    info = tokens_per_turn_info(frame([step("prefix", 1, cached_tokens=None, ceiling_tokens=None)]), "prefix")
    assert info.parts == {"unknown": (600.0,)}
    assert info.ceiling == (None,)
    assert "not measured" in info.caption.note


def test_tokens_draw_the_ceiling_above_the_parts():
    figure = tokens_per_turn_figure(tokens_per_turn_info(frame(steps(("prefix",))), "prefix"))
    assert [trace.name for trace in figure.data] == ["cached", "computed", "cache ceiling"]
    assert list(figure.data[2].y) == [0, 600, 792, 984]


def test_ledger_adds_up_over_the_steps_that_every_arm_finished():
    info = wall_ledger_info(frame([*steps(("base",), turns=4), *steps(("spec",), turns=2)]))
    assert [(one.arm, one.n) for one in info.arms] == [("base", 2), ("spec", 2)]
    assert (info.arms[0].first_s, info.arms[0].rest_s) == pytest.approx((0.6 + 0.8, 4.0))
    assert info.arms[1].total_s == pytest.approx(1.4 + 2.0)
    assert info.caption.note == "Over the 2 steps that both arms finished."


TIMES = {"send_lag_s": 0.0, "server_s": 0.02, "queue_s": 0.01, "transfer_s": 0.03, "decode_s": 1.9}


def test_ledger_has_the_engines_parts_where_it_told_them_and_they_add_up():
    timed = [step(arm, turn, prefill_s=0.5, **TIMES) for arm in ("base", "pd") for turn in (1, 2)]
    info = wall_ledger_info(frame(timed))
    base, split = info.arms
    assert base.total_s == pytest.approx(base.first_s + base.rest_s)
    assert (base.drawn["prefill"], base.drawn["transfer"], split.drawn["transfer"]) == (1.0, 0.0, 0.06)
    assert info.names == ("server", "queue", "prefill", "transfer", "decode", "other")
    assert [trace.name for trace in wall_ledger_figure(info).data][:3] == ["HTTP server", "queue", "prefill"]
    assert "No clock names 10\N{NO-BREAK SPACE}% of an arm's time at most." in info.caption.note


def test_ledger_of_an_arm_whose_engine_told_no_times_is_the_clients_two_parts():
    timed = [step("base", turn, prefill_s=0.5, **TIMES) for turn in (1, 2)]
    info = wall_ledger_info(frame([*timed, *steps(("pd",), turns=2)]))
    assert info.arms[1].drawn == {"first": info.arms[1].first_s, "rest": info.arms[1].rest_s}
    assert info.names[:2] == ("first", "rest")
    assert "The engine of pd told no times." in info.caption.note


def test_ledger_says_in_words_what_base_spends_and_each_arm_takes_of_it():
    info = wall_ledger_info(frame(steps(("base", "prefix", "spec"), turns=2)))
    assert info.caption.note == "Over the 2 steps that all 3 arms finished."
    lines = finding(info).splitlines()
    assert lines[0] == "base spends 26 % of its seconds before the first token (2 steps)."
    assert lines[2] == "spec takes 100 % of base's time to the first token and 50 % of its time after it."


def test_ledger_without_base_or_steps_claims_nothing():
    assert "base was not measured" in finding(wall_ledger_info(frame(steps(("spec",)))))
    assert finding(wall_ledger_info(EMPTY)) == wall_ledger_info(EMPTY).caption.empty


def test_ledger_does_not_wait_for_an_arm_that_only_failed():
    info = wall_ledger_info(frame([*steps(("base",)), failed("pd", 1)]))
    assert [one.arm for one in info.arms] == ["base"]
    assert info.caption.note == "Over the 4 steps that base finished."


def test_acceptance_is_weighted_by_tokens_and_leaves_out_arms_without_drafts():
    rows = [
        step("spec", 1, drafted_tokens=10, accepted_tokens=10),
        step("spec", 6, drafted_tokens=90, accepted_tokens=0),
    ]
    info = acceptance_by_kind_info(frame([*rows, *steps(("base",))]))
    assert [(one.arm, one.kind, one.rate) for one in info.rates] == [("spec", "plan", 0.1)]


def test_acceptance_of_a_kind_without_drafts_is_a_dash_not_zero():
    rows = [step("spec", 1), step("spec", 2, drafted_tokens=0, accepted_tokens=0)]
    info = acceptance_by_kind_info(frame(rows))
    assert [one.rate for one in info.rates] == [0.75, None]
    assert list(acceptance_by_kind_figure(info).data[0].y) == [0.75, None]


def _with_shared(table: pd.DataFrame) -> pd.DataFrame:
    """As if each prompt had 20 tokens beyond its ceiling in common with what came before."""
    return table.assign(shared_tokens=table["ceiling_tokens"] + 20, append_tokens=table["ceiling_tokens"] + 50)


def test_gap_per_arm_adds_up_to_the_prompts_and_names_each_loss():
    made = [
        step(arm, turn, shared_tokens=380, append_tokens=390, ceiling_tokens=352, reachable_tokens=320, cached_tokens=n)
        for arm, n in (("base", 0), ("prefix", 256))
        for turn in (1, 2)
    ]
    info = cache_gap_info(frame(made))
    assert info.bars == ("base", "prefix")
    prompts = 600 + 800
    assert [sum(tokens) for tokens in zip(*info.parts.values(), strict=True)] == [prompts, prompts]
    assert info.parts["off"] == (704, 0)
    assert (info.parts["routing"], info.parts["eviction"]) == ((0, 64), (0, 128))
    assert (info.parts["rounding"], info.parts["template_drift"]) == ((56, 56), (20, 20))
    assert [trace.name for trace in cache_gap_figure(info).data][:3] == ["cached", "evicted", "in another process"]


def test_gap_per_turn_is_a_mean_and_a_loss_without_a_cause_is_called_so():
    made = [
        step("prefix", 2, repeat=n, shared_tokens=380, ceiling_tokens=352, cached_tokens=cached)
        for n, cached in enumerate((352, 320))
    ]
    info = cache_gap_info(frame(made), "prefix")
    assert info.bars == (2,)
    assert info.parts == {"cached": (336.0,), "unknown": (16.0,), "rounding": (28.0,), "new": (420.0,)}


INFOS = {
    "overview": (lambda s: arms_overview_info(TABLE if len(s) else TABLE.head(0)), arms_overview_figure),
    "ttft": (per_turn_info, per_turn_figure),
    "tokens": (lambda s: tokens_per_turn_info(s, "all"), tokens_per_turn_figure),
    "ledger": (wall_ledger_info, wall_ledger_figure),
    "gap": (lambda s: cache_gap_info(_with_shared(s)), cache_gap_figure),
    "gap per turn": (lambda s: cache_gap_info(_with_shared(s), "all"), cache_gap_figure),
    "acceptance": (acceptance_by_kind_info, acceptance_by_kind_figure),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INFOS)
def test_every_figure_has_a_question_an_n_units_and_an_alt_text(name, mode):
    info_of, draw = INFOS[name]
    info = info_of(frame(steps(("base", "all"))))
    figure = draw(info, mode)
    assert info.caption.title.endswith("?")
    assert info.caption.alt
    assert figure.layout.xaxis.title.text
    assert any(char.isdigit() for char in texts(figure))
    assert len(figure.to_json()) > 100


@pytest.mark.parametrize("rows", [EMPTY, frame([failed("all", 1)]), frame([step("all", 1, warmup=True)])])
@pytest.mark.parametrize("name", INFOS)
def test_every_figure_without_data_is_a_sentence(name, rows):
    info_of, draw = INFOS[name]
    info = info_of(rows if name != "overview" else EMPTY)
    figure = draw(info)
    assert len(figure.data) == 0
    assert info.caption.empty.endswith(".")
    assert info.caption.empty.split()[0] in texts(figure)
