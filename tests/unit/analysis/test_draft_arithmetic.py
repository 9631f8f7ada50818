"""What a draft takes, by arithmetic: parameter counts that are published, and what two KV caches leave of one."""

from __future__ import annotations

import pytest

from labkit.analysis.draft_arithmetic import QWEN3_DRAFTS, TARGET_KV_BYTES, draft_table

PUBLISHED = {"Qwen3-0.6B": 596_049_920, "Qwen3-1.7B": 1_720_574_976, "Qwen3-4B": 4_022_468_096}
"""Parameters of the tensors in each model's files, tied embedding counted once."""


@pytest.mark.parametrize("draft", QWEN3_DRAFTS, ids=lambda draft: draft.name)
def test_parameters_are_those_of_the_files(draft):
    assert draft.parameters == PUBLISHED[draft.name]


def test_a_token_of_the_target_takes_188_kib():
    assert TARGET_KV_BYTES == 188 * 1024


@pytest.mark.parametrize(("draft", "kib"), zip(QWEN3_DRAFTS, (112, 112, 144), strict=True))
def test_a_token_of_a_draft_takes(draft, kib):
    assert draft.kv_bytes() == kib * 1024


def test_what_is_left_is_shared_by_both_caches():
    table = draft_table(pool_gb=400).set_index("draft")
    assert table.loc["none", "room"] == 1
    assert table.loc["none", "tokens"] == pytest.approx(400e9 / 192_512 / 1e6)
    small = table.loc["Qwen3-0.6B"]
    assert small["tokens"] == pytest.approx((400e9 - 2 * 596_049_920) / (192_512 + 114_688) / 1e6)
    assert small["room"] == pytest.approx(0.6248, abs=1e-4)
    assert small["taken_gb"] == pytest.approx(400 - small["tokens"] * 192_512 / 1000)
    assert small["weights_gb"] == pytest.approx(1.192, abs=1e-3)
    assert table["room"].is_monotonic_decreasing


def test_a_pool_smaller_than_the_draft_holds_nothing():
    assert draft_table(pool_gb=1).set_index("draft").loc["Qwen3-4B", "tokens"] == 0
