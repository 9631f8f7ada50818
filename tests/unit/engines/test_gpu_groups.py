"""Groups of GPUs in a profile: two, apart or the very same, and as large as the parallel degrees ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.arms import ARMS, arm_named
from labkit.core.errors import BadInput
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.profiles.reading import _SHIPPED

EIGHT = (_SHIPPED / "mi300x-8-qwen3-30b-a3b.toml").read_text(encoding="utf-8")
GPUS = "gpus = [[0, 1, 2, 3], [4, 5, 6, 7]]"
DEGREE = "tensor-parallel-size = 4"


def refused(folder: Path, gpus: str, degree: str = DEGREE) -> BadInput:
    """What a plan of the profile with these two lines says."""
    assert GPUS in EIGHT
    assert DEGREE in EIGHT
    path = folder / "mine.toml"
    path.write_text(EIGHT.replace(GPUS, f"gpus = {gpus}").replace(DEGREE, degree, 1), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        make_plan(load_profile(str(path)), arm_named("base"))
    return caught.value


@pytest.mark.parametrize(
    ("gpus", "value", "allowed"),
    [
        ("[[0,1,2,3],[3,4,5,6]]", "[0, 1, 2, 3],[3, 4, 5, 6]", "groups that share no GPU, or twice the same group"),
        ("[[0,1],[2,3]]", "[0, 1]", "groups of 4 GPUs, as tensor-parallel-size 4"),
        ("[[0,1,2,3],[4,5,6]]", "[4, 5, 6]", "groups of 4 GPUs, as tensor-parallel-size 4"),
        ("[[0,0,1,2],[4,5,6,7]]", "[0, 0, 1, 2]", "each GPU once in a group"),
        ("[[0,1,2,3]]", "[0, 1, 2, 3]", "two groups: of replica 0 or prefill, and of replica 1 or decode"),
    ],
)
def test_groups_that_no_engine_could_use_are_refused(tmp_path: Path, gpus: str, value: str, allowed: str) -> None:
    error = refused(tmp_path, gpus)
    assert error.message.startswith(f"engine.gpus: {value} is not allowed; allowed: {allowed}")


def test_the_shared_gpus_are_named(tmp_path: Path) -> None:
    assert refused(tmp_path, "[[0,1,2,3],[3,4,5,6]]").message.endswith("; GPU 3 in both")


@pytest.mark.parametrize(
    ("degree", "allowed"),
    [
        (
            "tensor-parallel-size = 2\npipeline-parallel-size = 4",
            "groups of 8 GPUs, as tensor-parallel-size 2 x pipeli",
        ),
        ("tensor-parallel-size = 4\ndata-parallel-size = 2", "groups of 8 GPUs, as tensor-parallel-size 4 x data-par"),
        ("enforce-eager = false", "groups of 1 GPU, as tensor-parallel-size is not set"),
    ],
)
def test_every_degree_counts(tmp_path: Path, degree: str, allowed: str) -> None:
    assert allowed in refused(tmp_path, "[[0,1,2,3],[4,5,6,7]]", degree).message


def test_a_degree_in_a_variants_name_counts() -> None:
    with pytest.raises(BadInput, match="groups of 8 GPUs, as tensor-parallel-size 8"):
        make_plan(load_profile("mi300x-8-qwen3-30b-a3b+tensor-parallel-size=8"), arm_named("pd"))


@pytest.mark.parametrize(
    ("profile", "flags", "gpus"),
    [
        ("mi300x-8-qwen3-30b-a3b", {"tensor-parallel-size": 2}, ((0, 1), (1, 0))),
        ("mi300x-8-qwen3-235b-sglang", {"data-parallel-size": 4, "enable-dp-attention": True}, None),
        ("mi300x-8-qwen3-235b", {}, None),
        ("mi300x-1-qwen3-8b", {}, None),
        ("h200-1-qwen3-8b", {}, None),
        ("cpu-smollm2", {}, None),
    ],
)
def test_sound_groups_pass_in_every_arm(profile: str, flags: dict[str, int], gpus: tuple | None) -> None:
    whole = load_profile(profile)
    changed = {"flags": {**whole.engine.flags, **flags}, "gpus": gpus or whole.engine.gpus}
    engine = whole.engine.model_copy(update=changed)
    for arm in ARMS:
        assert make_plan(whole.model_copy(update={"engine": engine}), arm)
