"""Which columns stay null on an attached engine: all of them, no others, each with its reason."""

import dataclasses

from labkit.core.arms import arm_named
from labkit.experiments.attached.records import AttachedEngine
from labkit.experiments.attached.remarks import attached_remarks
from labkit.experiments.attached.unread import halved, unread

COUNTS = ("requests", "e2e_s", "queue_s", "prefill_s", "decode_s")
FULL = AttachedEngine(
    url="http://h:1", kind="vllm", maker="vllm", version="0.32.0", model="m", models=("m",), tokenizer=True,
    cached_tokens=True, token_ids=True, request_metrics=True, request_drafts=False, probed=True, block_size=16,
    metrics={"engine": "http://h:1/metrics"}, counts={"engine": COUNTS},
)  # fmt: skip
PAGES = {"prefill": "http://p/metrics", "decode": "http://d/metrics"}
SPLIT = dataclasses.replace(
    FULL, kind="vllm-router", split=True, metrics=PAGES,
    counts={"prefill": COUNTS, "decode": (*COUNTS, "prompt_transferred", "transfer_s", "transfers")},
)  # fmt: skip
ALONE = dataclasses.replace(SPLIT, metrics={}, counts={})
BARE = dataclasses.replace(
    FULL, kind="openai-compatible", maker=None, metrics={}, counts={}, tokenizer=False, cached_tokens=False,
    request_metrics=False, block_size=None,
)  # fmt: skip


def columns(engine: AttachedEngine, arm: str, block_size: int | None = 16) -> dict[str, str]:
    return {name: each.why for each in unread(engine, arm_named(arm), block_size) for name in each.columns}


def test_nothing_is_missing_where_all_is_told():
    assert columns(FULL, "base") == columns(FULL, "prefix") == columns(SPLIT, "pd") == {}


def test_a_bare_server_leaves_what_only_an_engine_counts():
    found = columns(BARE, "base", None)
    assert set(found) == {
        "cached_tokens", "retokenized_tokens", "ceiling_tokens", "reachable_tokens", "shared_tokens", "append_tokens",
        "queue_s", "prefill_s", "decode_s", "server_s",
    }  # fmt: skip
    assert "no /tokenize" in found["ceiling_tokens"]
    assert "no page of counters" in found["server_s"]


def test_what_is_missing_is_said_with_the_flag_that_brings_it():
    silent = dataclasses.replace(FULL, cached_tokens=False)
    assert "--enable-prompt-tokens-details" in columns(silent, "prefix")["cached_tokens"]
    assert "--enable-cache-report" in columns(dataclasses.replace(silent, maker="sglang"), "prefix")["cached_tokens"]
    assert "--profile NAME" in columns(FULL, "prefix", None)["ceiling_tokens"]


def test_a_router_without_pages_leaves_the_transfer():
    found = columns(ALONE, "pd")
    assert found["transfer_s"] == found["transferred_tokens"] == "no --metrics decode=URL was given"
    assert set(found) == {"transfer_s", "transferred_tokens", "server_s"}
    assert "decode alone" in halved(ALONE, arm_named("pd"))
    assert halved(SPLIT, arm_named("pd")) == halved(FULL, arm_named("prefix")) == ""


def test_a_connector_that_counts_nothing_leaves_the_time_of_the_transfer():
    counts = {"prefill": COUNTS, "decode": (*COUNTS, "prompt_transferred")}
    found = columns(dataclasses.replace(SPLIT, counts=counts), "pd")
    assert found == {"transfer_s": "its connector counts no transfers"}


def test_a_page_without_some_times_leaves_those_alone():
    silent = dataclasses.replace(FULL, request_metrics=False, counts={"engine": ("requests", "queue_s", "prefill_s")})
    assert set(columns(silent, "prefix")) == {"decode_s", "server_s"}
    assert set(columns(dataclasses.replace(silent, counts={"engine": ("queue_s",)}), "prefix")) == {
        "queue_s", "prefill_s", "decode_s", "server_s",
    }  # fmt: skip
    pages = {"prefill": ("requests", "queue_s", "prefill_s"), "decode": ("requests", "transfer_s")}
    split = dataclasses.replace(SPLIT, request_metrics=False, counts=pages)
    assert set(columns(split, "pd")) == {"transferred_tokens", "server_s", "queue_s", "decode_s"}


def test_drafts_are_missing_only_where_there_are_some():
    assert set(columns(FULL, "spec")) == {"drafts", "drafted_tokens", "accepted_tokens"}
    assert columns(dataclasses.replace(FULL, request_drafts=True), "spec") == {}
    counting = {"engine": (*COUNTS, "drafts", "drafted_tokens", "accepted_tokens")}
    assert columns(dataclasses.replace(FULL, counts=counting), "spec") == {}


def test_of_replicas_the_counters_of_one_step_are_nobodys():
    pages = {"engine-0": "http://a/metrics", "engine-1": "http://b/metrics"}
    two = dataclasses.replace(FULL, metrics=pages, counts=dict.fromkeys(pages, COUNTS))
    assert "several replicas" in columns(two, "prefix")["server_s"]


def test_without_a_request_nobody_knows_what_replies_bring():
    unasked = dataclasses.replace(BARE, probed=False, cached_tokens=None, request_metrics=None)
    assert not {"cached_tokens", "prefill_s"} & set(columns(unasked, "prefix"))


def test_as_remarks_of_the_run_each_said_once():
    facts = {"unread": {"transfer_s": "no page", "transferred_tokens": "no page"}, "noted": ["busy"]}
    events = [{"type": "attached", "arm": arm, **facts} for arm in ("pd", "prefix+pd", "pd")] + [{"type": "serving"}]
    assert attached_remarks(events) == [
        "pd, prefix+pd: transfer_s, transferred_tokens null throughout, as no page",
        "pd, prefix+pd: busy",
    ]
