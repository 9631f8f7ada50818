"""GPUs in a profile: those that its machine has, and the same ones under both names that HIP reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.arms import arm_named
from labkit.core.errors import BadInput
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.profiles.reading import _SHIPPED

ONE = (_SHIPPED / "mi300x-1-qwen3-8b.toml").read_text(encoding="utf-8")
GPUS = "gpus = [[0], [0]]"
CUDA = 'CUDA_VISIBLE_DEVICES = "{gpus}"'


def mine(folder: Path, before: str, after: str) -> str:
    """The path of the profile with one line changed."""
    assert before in ONE
    path = folder / "mine.toml"
    path.write_text(ONE.replace(before, after, 1), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("machine", "gpus", "words"),
    [
        ("gpus = 1", "[[0], [3]]", "engine.gpus: 3 is not allowed; allowed: 0, as machine.gpus is 1"),
        ("gpus = 1", "[[-1], [0]]", "engine.gpus: -1 is not allowed; allowed: 0, as machine.gpus is 1"),
        ("gpus = 8", "[[0], [8]]", "engine.gpus: 8 is not allowed; allowed: 0 to 7, as machine.gpus is 8"),
        ("gpus = 0", "[[0], [0]]", "engine.gpus: 0 is not allowed; allowed: none, as machine.gpus is 0"),
    ],
)
def test_a_gpu_that_the_machine_does_not_have_is_refused(tmp_path: Path, machine: str, gpus: str, words: str) -> None:
    changed = ONE.replace("gpus = 1", machine, 1)
    assert GPUS in changed
    path = tmp_path / "mine.toml"
    path.write_text(changed.replace(GPUS, f"gpus = {gpus}"), encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        load_profile(str(path))
    assert refused.value.message == words
    assert "[machine]" in refused.value.hint


def test_the_last_gpu_of_the_machine_is_not(tmp_path: Path) -> None:
    path = mine(tmp_path, "gpus = 1", "gpus = 2")
    assert load_profile(path).engine.gpus == ((0,), (0,))


@pytest.mark.parametrize("arm", ["base", "pd"])
def test_two_variables_that_say_other_gpus_are_refused_when_a_plan_is_made(tmp_path: Path, arm: str) -> None:
    profile = load_profile(mine(tmp_path, CUDA, 'CUDA_VISIBLE_DEVICES = "1"'))
    with pytest.raises(BadInput, match="HIP_VISIBLE_DEVICES: '0' is not allowed; allowed: 1, as CUDA_VISIBLE_DEVICES"):
        make_plan(profile, arm_named(arm))


def test_what_the_split_alone_sets_is_looked_at_in_the_split(tmp_path: Path) -> None:
    path = mine(tmp_path, "[layers.pd_split.connector]", '[layers.pd_split.env]\nHIP_VISIBLE_DEVICES = "1"\n\n'
                "[layers.pd_split.connector]")  # fmt: skip
    profile = load_profile(path)
    make_plan(profile, arm_named("base"))
    with pytest.raises(BadInput, match="prefill: HIP_VISIBLE_DEVICES: '1'"):
        make_plan(profile, arm_named("pd"))


@pytest.mark.parametrize("line", ["", 'CUDA_VISIBLE_DEVICES = ""', CUDA])
def test_one_alone_an_empty_one_and_two_alike_pass(tmp_path: Path, line: str) -> None:
    make_plan(load_profile(mine(tmp_path, CUDA, line)), arm_named("base"))
