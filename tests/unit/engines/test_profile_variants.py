"""Variants: other engine flags, said in a profile's name, and nothing that a layer owns."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.arms import ARMS, arm_named
from labkit.core.errors import BadInput, UnknownName
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import list_profiles, load_profile, variant
from labkit.engines.profiles.reading import _SHIPPED

SMALL = "cpu-smollm2+num-gpu-blocks-override=129+max-model-len=2048"


def test_a_name_says_the_flags_and_is_read_back():
    assert variant("cpu-smollm2", {"num-gpu-blocks-override": 129, "max-model-len": 2048}) == SMALL
    profile = load_profile(SMALL)
    assert profile.name == SMALL
    assert profile.engine.flags["num-gpu-blocks-override"] == 129
    assert profile.engine.flags["max-model-len"] == 2048
    assert profile.title.endswith("with num-gpu-blocks-override 129, max-model-len 2048")


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_an_arm_of_a_variant_differs_by_the_flag_alone(arm):
    plans = [make_plan(load_profile(name), arm) for name in ("cpu-smollm2", "cpu-smollm2+block-size=128")]
    engines = {(one.setting, one.left, one.right) for one in diff(*plans)}
    assert engines == {("--block-size", "32", "128")}
    assert plans[0].key != plans[1].key


@pytest.mark.parametrize("name", list_profiles())
def test_every_profile_can_be_varied(name):
    changed = load_profile(variant(name, {"max-num-seqs": 3, "enforce-eager": False, "dtype": "auto"}))
    flags = changed.engine.flags
    assert (flags["max-num-seqs"], flags["enforce-eager"], flags["dtype"]) == (3, False, "auto")
    if changed.engine.command == "sglang":  # has no such form, and says so
        with pytest.raises(BadInput, match="enforce-eager"):
            make_plan(changed, arm_named("prefix"))
    else:
        assert "--no-enforce-eager" in make_plan(changed, arm_named("prefix")).processes[0].argv


def test_a_variant_of_a_variant_and_of_a_file(tmp_path: Path):
    assert load_profile(variant(SMALL, {"max-model-len": 1024})).engine.flags["max-model-len"] == 1024
    mine = tmp_path / "mine.toml"
    mine.write_text((_SHIPPED / "cpu-smollm2.toml").read_text(encoding="utf-8"), encoding="utf-8")
    assert load_profile(f"{mine}+block-size=64").engine.flags["block-size"] == 64


@pytest.mark.parametrize("flag", ["enable-prefix-caching", "speculative-config", "kv-transfer-config"])
def test_what_a_layer_owns_is_no_variant(flag):
    with pytest.raises(BadInput, match="no layer owns"):
        load_profile(f"cpu-smollm2+{flag}=true")


@pytest.mark.parametrize(("flag", "value"), [("block-size", "a/b"), ("block-size", ""), ("--block-size", 3), ("A", 1)])
def test_what_no_name_can_say_is_refused(flag, value):
    with pytest.raises(BadInput, match="of a variant"):
        variant("cpu-smollm2", {flag: value})


def test_an_unknown_base_is_named():
    with pytest.raises(UnknownName, match="cpu-smollm2"):
        load_profile("cpu-smolm2+block-size=64")
    with pytest.raises(UnknownName):
        load_profile("cpu-smollm2+block-size")
