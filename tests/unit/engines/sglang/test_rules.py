"""What SGLang refuses is refused before anything starts; what it takes is let through."""

from __future__ import annotations

import pytest

from labkit.core.arms import arm_named
from labkit.core.errors import BadInput
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.profiles.schema import Flags
from labkit.engines.sglang import rules

NAME = "mi300x-8-qwen3-235b-sglang"
CACHE = "disaggregation-decode-enable-radix-cache"


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ({"speculative-algorithm": "NGRAM", "page-size": 16, "attention-backend": "aiter"}, "page-size"),
        ({"speculative-algorithm": "NGRAM", "device": "npu"}, "device"),
        (
            {"speculative-algorithm": "EAGLE3", "speculative-eagle-topk": 4, "page-size": 16}
            | {"attention-backend": "aiter"},
            "speculative-eagle-topk",
        ),
        ({"speculative-algorithm": "STANDALONE", CACHE: True}, CACHE),
        ({"speculative-algorithm": "NGRAM", "page-size": "one"}, "page-size"),
    ],
)
def test_refused(flags: Flags, field: str) -> None:
    with pytest.raises(BadInput) as caught:
        rules.check(flags)
    assert field in str(caught.value)


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"speculative-algorithm": "NGRAM"},
        {"speculative-algorithm": "NGRAM", "page-size": 16, "speculative-ngram-max-bfs-breadth": 1},
        {"speculative-algorithm": "NGRAM", "page-size": 16, "attention-backend": "flashinfer"},
        {"speculative-algorithm": "EAGLE3", "speculative-eagle-topk": 4, "page-size": 1},
        {"speculative-algorithm": "EAGLE3", CACHE: True},
        {CACHE: True},
    ],
)
def test_let_through(flags: Flags) -> None:
    rules.check(flags)


def test_larger_pages_refuse_the_arms_with_ngram_and_no_others() -> None:
    profile = load_profile(f"{NAME}+page-size=16")
    assert make_plan(profile, arm_named("prefix")).processes
    assert make_plan(profile, arm_named("spec"), spec_method="eagle3").processes
    with pytest.raises(BadInput, match="page-size"):
        make_plan(profile, arm_named("spec"))


@pytest.mark.parametrize("flag", ["speculative-algorithm=EAGLE", "disaggregation-mode=prefill"])
def test_a_layers_flag_is_no_variant(flag: str) -> None:
    with pytest.raises(BadInput, match="no layer owns"):
        make_plan(load_profile(f"{NAME}+{flag}"), arm_named("base"))
