"""The article's tables and sentences, from answers and runs with known contents."""

from __future__ import annotations

import pandas as pd
import pytest
from unit.experiments.lessons.article_facts import answers, nobody, rate, seen

from labkit.core.errors import BadInput
from labkit.engines.accepts import Answer
from labkit.experiments.lessons import article, article_shown, article_told
from labkit.experiments.lessons.article import Evidence
from labkit.experiments.lessons.article_lines import LINES, all_questions
from labkit.experiments.lessons.article_words import claimed, first_line, in_words
from labkit.store.claims import load_claims

RATES = seen(rate(76.0), rate(94.0, "prefix, steps=30"))


@pytest.fixture
def claims() -> pd.DataFrame:
    return load_claims()


def found(told=None, rows: pd.DataFrame = RATES, at_once: int | None = 8) -> Evidence:
    return Evidence(told or answers(), rows, at_once, 60, None)


def test_every_line_is_of_a_claim_and_every_claim_of_code_has_a_line(claims) -> None:
    of_article = claims[claims["source"] == article.ARTICLE].set_index("id")
    assert {line.claim for line in LINES} <= set(of_article.index)
    numbers = set(of_article[of_article["metric"].isin(["hit_rate", "memory", "usd_per_task"])].index)
    assert set(of_article.index) - {line.claim for line in LINES} == numbers
    ids = [question.id for question in all_questions()]
    assert len(ids) == len(set(ids)) > 25


def test_each_claim_of_the_article_has_a_verdict_with_a_reason(claims) -> None:
    table = article.article_table(claims, found())
    assert len(table) == 14
    assert list(table.columns) == ["layer", "claim", "this machine", "others", "verdict", "because"]
    verdicts = dict(zip(table["claim"], table["verdict"], strict=True))
    assert verdicts["from vllm.connections import global_force_connection sets up the KV connection."] == "differs"
    assert verdicts["vLLM does not reuse KV across turns by default."] == "differs"
    assert verdicts["The draft model is Qwen3-1.5B."] == "cannot be seen here"
    assert verdicts["Table 5.3 gives costs per token and per task."] == "cannot be seen here"
    assert verdicts["max_num_seqs: 1 on the prefill side."] == "cannot be seen here"
    assert list(verdicts.values()).count("differs") == 10
    assert not table.map(lambda text: "`" in text).to_numpy().any(), "a cell shows a backtick as it is"
    assert (table["because"].str.len() > 0).all()


def test_the_draft_s_memory_is_that_of_the_model_which_the_article_names(claims) -> None:
    table = article.article_table(claims, found())
    because = table[table["claim"].str.startswith("A draft model takes")]["because"].iloc[0]
    assert because.endswith("its weights would be 3.0 GB in bf16")


def test_others_stand_beside_a_claim_and_the_article_does_not(claims) -> None:
    table = article.article_table(claims, found()).set_index("claim")
    reuse = table.loc["vLLM does not reuse KV across turns by default.", "others"]
    assert reuse == "10 claims, 19 to 97 %; 1 claim without a number"
    assert table.loc["The draft model is Qwen3-1.5B.", "others"] == "–"


def test_without_a_vllm_code_cannot_be_seen_and_the_rest_can(claims) -> None:
    table = article.article_table(claims, found(nobody(), at_once=None))
    assert set(table["verdict"]) == {"cannot be seen here"}
    saw = article_told.import_saw(nobody())
    assert saw == (None, "vLLM is not installed here")
    assert article_told.to_change(found(nobody())) == "Nobody could be asked here: vLLM is not installed here."


def test_claims_on_the_hardware_come_by_layer_with_their_source(claims) -> None:
    table = article.others_table(claims, found(), "mi300x")
    assert len(table) == len(article.on_hardware(claims, "MI300X")) > 8
    assert list(dict.fromkeys(table["layer"])) == ["prefix", "pd", "spec", "–"]
    assert table["source"].str.contains("20").all()
    assert table[table["claim"].str.contains("shortens mean TTFT 3.0")]["verdict"].tolist() == ["cannot be seen here"]


def test_a_table_of_lines_can_be_of_one_claim(claims) -> None:
    table = article.lines_table(answers(), "article-fp8-under-moriio")
    assert table.iloc[0].tolist() == [
        '"kv_connector_extra_config": {"kv_cache_dtype": "fp8"}',
        "ignored: none of 40 settings changes with it, and no warning names it",
        "vllm serve MODEL --kv-cache-dtype fp8",
        "accepted",
    ]
    assert len(article.lines_table(answers())) == len(LINES)
    assert article.lines_table(answers(), "article-buffer-size").iloc[0].tolist()[2:] == ["nothing to set", "–"]


def test_predictions_meet_what_was_answered(claims) -> None:
    told = answers()
    assert article_told.import_saw(told) == (True, "the engine's Python says `TypeError: no such name`")
    assert article_told.names_saw(told) == (
        False, "of 12 lines it refuses 5 and ignores 5, 5 of them without a word",
    )  # fmt: skip
    assert article_told.misspelt_saw(told)[0] is True
    table = article.article_table(claims, found())
    assert article_told.reuse_saw(told, table)[0] is False
    assert article_told.verdicts_saw(table) == (False, "of 14 claims, 10 differ and 4 cannot be seen here")


def test_predictions_can_fare_the_other_way(claims) -> None:
    taken = Answer(id="connection", status="accepted")
    assert article_told.import_saw(answers(connection=taken)) == (False, "the engine's Python imports it")
    strict = {name: Answer(id=name, status="refused", said="no") for name in ("fp8", "timeout", "retry", "transfers")}
    told = answers(**strict, buffer=Answer(id="buffer", status="refused", said="no"))
    assert article_told.names_saw(told)[0] is True
    changed = Answer(id="misspelt", status="refused", said="no")
    assert article_told.misspelt_saw(answers(misspelt=changed)) == (False, "the misspelt key is refused")
    off = Answer(id="default", status="accepted", read={"enable_prefix_caching": False})
    table = article.article_table(claims, found(answers(default=off)))
    assert article_told.reuse_saw(answers(default=off), table)[0] is True
    assert article_told.verdicts_saw(table.head(0)) == (None, "there is no such claim")


def test_what_to_change_leaves_out_what_may_stay(claims) -> None:
    text = article_told.to_change(found())
    assert text.count("\n- ") + 1 == 12
    assert '- `"kv_connector_extra_config": {"buffer_size_mb": 512}`' in text
    assert "**Leave it out**: there is nothing to set." in text
    assert "**Write** `vllm serve MODEL --kv-cache-dtype fp8` (accepted)." in text
    for each in (text, article_told.to_change(found(at_once=None))):
        (line,) = (line for line in each.splitlines() if "max_num_seqs=1" in line)
        assert "it would serialise prompts (by its meaning, not measured)" in line
        assert line.endswith("**Leave it out**: the engine's default then holds; no other value was measured.")
    assert "max_num_seqs=64" not in text


def test_what_is_only_near_is_not_said_to_be_the_same(claims) -> None:
    lines = article_told.to_change(found()).splitlines()
    near = {
        limit: line
        for line in lines
        for limit in ("RDMA", "no transfer is repeated", "proves no name")
        if limit in line
    }
    assert len(near) == 3
    assert all("**No equivalent**; nearest is `" in line and "**Write**" not in line for line in near.values())
    assert sum("**Write**" in line for line in lines) == 7
    shown = article.lines_table(answers(), "article-max-transfers").iloc[0]["today"]
    assert shown.startswith(
        'no equivalent; nearest: "kv_connector_extra_config": {"num_workers": 8} (threads of the RDMA'
    )
    assert "`" not in shown


def test_the_engine_s_words_are_code_in_markdown(claims) -> None:
    said = "TypeError: EngineArgs.__init__() got `x`"
    told = answers(spec_keyword=Answer(id="spec-keyword", status="refused", said=said))
    assert "the engine refuses it: `TypeError: EngineArgs.__init__() got 'x'`." in article_told.to_change(found(told))


def test_weights_are_two_bytes_a_parameter_of_the_size_in_a_name() -> None:
    assert [article.weights_gb(name) for name in ("Qwen3-0.6B", "Qwen/Qwen3-4B", "gpt2")] == [1.2, 8.0, None]


def test_words_fit_in_a_cell() -> None:
    changed = Answer(id="a", status="accepted", read={"transfer_timeout": [30.0, 5.0]}, compared=40)
    assert in_words(changed) == "accepted: transfer_timeout 30.0, now 5.0"
    assert in_words(Answer(id="a", status="accepted", read={"max_num_seqs": 1})) == "accepted: max_num_seqs 1"
    assert in_words(Answer(id="a", status="no answer", said="gone")) == "no answer: gone"
    assert first_line("word " * 100) == f"{'word ' * 29}word ..."


def test_claims_of_several_units_are_said_by_unit(claims) -> None:
    both = claims[(claims["layer"] == "speculation") & (claims["metric"] == "acceptance_length")]
    assert claimed(both) == "4 claims, 1.81 to 3.32 tokens"
    assert claimed(claims.head(0)) == ""


def test_answers_are_live_or_stored() -> None:
    from labkit.experiments.lessons.article_answers import article_answers

    with pytest.raises(BadInput, match=r"ENGINE.*live or stored"):
        article_answers("fake")


def test_gains_and_levels_are_shown_apart_with_their_interval_beside_them() -> None:
    rows = seen(
        rate(76.0), {"layer": "speculation", "verdict": "worse"}, {"metric": "e2e_s"}, {"metric": "tokens_per_s"},
        {"metric": "prompt_computed", "value": 1.0, "low": None, "high": None},
        {"layer": "speculation", "metric": "acceptance_length", "unit": "tokens", "where": "ngram", "verdict": ""},
    )  # fmt: skip
    gains, levels = article_shown.gains_shown(rows), article_shown.levels_shown(rows)
    assert gains.to_numpy().tolist() == [
        ["prefix", "end-to-end time and tokens per second", "prefix", "3.00x (2.50-3.50)", 30, "better"],
        ["prefix", "prompt tokens computed", "prefix", "1.00x", 30, "better"],
        ["spec", "time to first token", "prefix", "3.00x (2.50-3.50)", 30, "worse"],
    ]
    assert levels.to_numpy().tolist() == [
        ["prefix", "hit rate", "prefix", "76 %", 30],
        ["spec", "tokens per round", "ngram", "3.00 tokens (2.50-3.50)", 30],
    ]
    assert len(article_shown.gains_shown(rows.head(0))) == len(article_shown.levels_shown(rows.head(0))) == 0


def test_claims_are_shown_without_marks(claims) -> None:
    table = article_shown.claims_shown(claims[claims["source"] == article.ARTICLE]).set_index("claim")
    assert list(table.loc["from vllm.connections import global_force_connection sets up the KV connection."]) == [
        "pd", "name in code",
    ]  # fmt: skip
    assert list(table.loc["Table 5.3 gives costs per token and per task."]) == ["–", "dollars per task"]


def test_a_config_file_stands_on_one_line() -> None:
    row = article.lines_table(answers(), "article-moriio-yaml").iloc[0]
    assert row["the article"] == "mori_io: {kv_cache_dtype: fp8, retry_count: 3}; proxy: {port: 8300}"
    assert "\n" not in row["today"]
