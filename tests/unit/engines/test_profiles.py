"""Profiles: the shipped ones load, wrong ones say which field is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.arms import ARMS
from labkit.core.errors import BadInput, UnknownName
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import list_profiles, load_profile
from labkit.engines.profiles.reading import _SHIPPED

CPU = (_SHIPPED / "cpu-smollm2.toml").read_text(encoding="utf-8")


def test_the_shipped_profiles_bear_their_file_names() -> None:
    ours = {"cpu-smollm2", "mi300x-8-qwen3-235b", "mi300x-8-qwen3-30b-a3b", "mi300x-1-qwen3-8b", "h200-1-qwen3-8b"}
    assert ours <= set(list_profiles())
    assert [load_profile(name).name for name in list_profiles()] == list_profiles()


def test_an_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="cpu-smollm2") as caught:
        load_profile("cpu-smolm2")
    assert "labkit plan --profiles" in str(caught.value)


def test_a_profile_of_ones_own_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CPU.replace('name = "cpu-smollm2"', 'name = "mine"'), encoding="utf-8")
    assert load_profile(str(path)).name == "mine"


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("fast_start = true", "fast_strat = true", "engine.fast_strat"),
        ("max_startup_s = 240.0", "max_startup_s = 0", "engine.max_startup_s"),
        ('default = "ngram"', 'default = "ngramm"', "layers.speculation"),
        ('served = "smollm2-135m"', 'served = "smollm2-135m"\npath = "x"', "model"),
        ("name =", "name", "mine.toml"),
    ],
)
def test_a_wrong_profile_names_the_field(tmp_path: Path, before: str, after: str, field: str) -> None:
    assert before in CPU
    path = tmp_path / "mine.toml"
    path.write_text(CPU.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_profile(str(path))
    assert field in str(caught.value)


VLLM = [name for name in list_profiles() if load_profile(name).engine.command != "sglang"]


@pytest.mark.parametrize("name", VLLM)
def test_a_draft_model_is_split_as_its_target_is(name: str) -> None:
    """vLLM refuses another degree only when it loads the model, which no check of the command line comes to."""
    profile = load_profile(name)
    drafts = [each.config for each in profile.layers.speculation.methods.values()]
    drafts = [config for config in drafts if config["method"] == "draft_model"]
    degree = profile.engine.flags.get("tensor-parallel-size", 1)
    assert drafts
    assert {config.get("draft_tensor_parallel_size", 1) for config in drafts} == {degree}


@pytest.mark.parametrize("name", [name for name in VLLM if load_profile(name).machine.vendor != "cpu"])
def test_a_gpu_profile_pins_what_a_layer_would_change(name: str) -> None:
    """Attention backend, runner, scheduling, blocks and batches are stated for all arms, with a reason beside them."""
    engine = load_profile(name).engine
    wanted = {"attention-backend", "async-scheduling", "block-size", "max-num-seqs", "max-num-batched-tokens"}
    wanted |= {"max-cudagraph-capture-size"}
    assert wanted <= set(engine.flags)
    assert engine.env["VLLM_USE_V2_MODEL_RUNNER"] == "0"
    methods = load_profile(name).layers.speculation.methods
    assert {key for key, each in methods.items() if each.pins} == {"ngram", "suffix"}


@pytest.mark.parametrize("name", list_profiles())
def test_a_profile_places_its_engines_on_gpus_that_its_machine_has(name: str) -> None:
    profile = load_profile(name)
    used = {gpu for group in profile.engine.gpus for gpu in group}
    assert used == set(range(profile.machine.gpus))
    assert (profile.machine.gpus == 0) == (profile.machine.vendor == "cpu")
    degree = profile.engine.flags.get("tensor-parallel-size", profile.engine.flags.get("tp", 1))
    assert {len(group) for group in profile.engine.gpus} <= {degree}


VARIANTS = [(name, variant) for name in list_profiles() for variant in load_profile(name).variants]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_a_declared_variant_is_asked_for_by_its_name(name: str, variant: str) -> None:
    plain, varied = load_profile(name), load_profile(f"{name}+{variant}")
    assert varied.name == f"{name}+{variant}"
    assert plain.variants[variant].about in varied.title
    plans = [[make_plan(profile, arm).key for arm in ARMS] for profile in (plain, varied)]
    assert any(one != other for one, other in zip(*plans, strict=True))
    assert set(diff(*(make_plan(profile, ARMS[-1]) for profile in (plain, varied)))) != set()


def test_a_variant_and_a_flag_together() -> None:
    profile = load_profile("mi300x-8-qwen3-235b+read+block-size=32")
    assert profile.name == "mi300x-8-qwen3-235b+read+block-size=32"
    assert profile.layers.pd_split.connector["kv_connector_extra_config"]["read_mode"] is True
    assert profile.layers.pd_split.connector["kv_connector_extra_config"]["backend"] == "xgmi"
    assert profile.engine.flags["block-size"] == 32


def test_an_unknown_variant_names_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match="did you mean read") as caught:
        load_profile("mi300x-8-qwen3-235b+reed")
    assert "--variants" in str(caught.value)
