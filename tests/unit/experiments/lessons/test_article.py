"""The article's tables and sentences, from answers and runs with known contents."""

from __future__ import annotations

import pandas as pd
import pytest
from unit.experiments.lessons.article_facts import answers, nobody, rate, seen

from labkit.core.errors import BadInput
from labkit.engines.accepts import Answer
from labkit.experiments.lessons import article, article_told
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
    assert verdicts["`from vllm.connections import global_force_connection` sets up the KV connection."] == "differs"
    assert verdicts["vLLM does not reuse KV across turns by default."] == "differs"
    assert verdicts["The draft model is Qwen3-1.5B."] == "cannot be seen here"
    assert verdicts["Table 5.3 gives costs per token and per task."] == "cannot be seen here"
    assert list(verdicts.values()).count("differs") == 11
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
    assert article_told.verdicts_saw(table) == (False, "of 14 claims, 11 differ and 3 cannot be seen here")


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
    assert "`LLM(MODEL, max_num_seqs=1)`: no need of it: 60 steps" in text
    assert "max_num_seqs=1" not in article_told.to_change(found(at_once=None))


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


def test_rows_are_shown_with_a_dash_where_there_is_no_interval() -> None:
    assert article.shown(RATES).iloc[0].to_dict() == {
        "layer": "prefix_caching", "metric": "hit_rate", "where": "prefix", "value": 76.0, "unit": "%", "low": "–",
        "high": "–", "n": 30, "verdict": "",
    }  # fmt: skip


def test_a_config_file_stands_on_one_line() -> None:
    row = article.lines_table(answers(), "article-moriio-yaml").iloc[0]
    assert row["the article"] == "mori_io: {kv_cache_dtype: fp8, retry_count: 3}; proxy: {port: 8300}"
    assert "\n" not in row["today"]
