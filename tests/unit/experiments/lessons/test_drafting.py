"""What a profile's drafters promise, what they are in a plan, and which heads fit."""

from __future__ import annotations

import pandas as pd
import pytest

from labkit.engines.profiles import load_profile
from labkit.experiments.lessons.drafting import HEADS, cost_of_draft, heads, plan_lines, promises, refusals

LAPTOP, TARGET = "cpu-smollm2", "mi300x-8-qwen3-235b"


def by_name(table: pd.DataFrame, name: str) -> dict:
    return table.set_index(table.columns[0]).loc[name].to_dict()


def test_a_copier_costs_nothing_and_the_same_model_a_pass_a_token():
    table = promises(load_profile(LAPTOP))
    assert table["method"].tolist() == ["ngram", "suffix", "draft_model"]
    assert by_name(table, "ngram") == {"k": 4, "c": 0.0, "passes": 1.0, "most_tokens": 5, "most_gain": 5.0}
    assert by_name(table, "draft_model") == {"k": 3, "c": 1.0, "passes": 4.0, "most_tokens": 4, "most_gain": 1.0}


def test_a_smaller_model_costs_its_share_of_active_parameters_and_a_head_is_not_known():
    table = promises(load_profile(TARGET))
    assert by_name(table, "draft_model")["c"] == pytest.approx(0.6 / 22)
    assert by_name(table, "draft_model")["passes"] == pytest.approx(1 + 4 * 0.6 / 22)
    assert pd.isna(by_name(table, "eagle3")["c"])
    assert pd.isna(by_name(table, "eagle3")["most_gain"])


@pytest.mark.parametrize(
    ("draft", "model", "c"),
    [("o/Small-1B", "o/Large-8B-Instruct", 0.125), ("o/Nameless", "o/Large-8B", None), ("o/M-1.5B", "o/M-30B-A3B", 0.5),
     ("o/Large-8B", "o/Large-8B", 1.0), ("{model}", "anything", 1.0)],
)  # fmt: skip
def test_sizes_are_read_from_names(draft, model, c):
    assert cost_of_draft({"method": "draft_model", "model": draft}, model) == c


def test_a_plan_shows_what_speculation_alone_adds_and_what_all_arms_get():
    text = plan_lines(load_profile(TARGET))
    assert text.count("--speculative-config") == len(load_profile(TARGET).layers.speculation.methods)
    assert "RedHatAI/Qwen3-235B-A22B-Instruct-2507-speculator.eagle3" in text
    assert 'in every arm, so that none is favoured: {"async-scheduling": false}' in text
    assert "--kv-transfer-config" not in text
    assert "enable-prefix-caching" not in text


def test_heads_of_the_hybrid_model_do_not_fit_instruct():
    table = heads(load_profile(TARGET)).set_index("name")
    assert len(table) == len(HEADS)
    assert table["fits"].tolist() == ["Instruct-2507" in name for name in table.index]
    assert table[table["planned"]].index.tolist() == ["RedHatAI/Qwen3-235B-A22B-Instruct-2507-speculator.eagle3"]
    assert table.loc[table["planned"], "fits"].all()
    assert not heads(load_profile(LAPTOP))["fits"].any()


def test_refusals_are_in_the_engines_words_and_each_once():
    said = {"type": "refused", "label": "prefix+spec suffix", "message": "run make suffix first"}
    assert refusals([said, {"type": "pass_done"}, said]) == "prefix+spec suffix was refused: run make suffix first"
    assert refusals([]) == "Every drafter that was asked for started."
