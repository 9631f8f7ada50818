"""Profiles: the shipped ones load, wrong ones say which field is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.errors import BadInput, UnknownName
from labkit.engines.profiles import list_profiles, load_profile
from labkit.engines.profiles.reading import _SHIPPED

CPU = (_SHIPPED / "cpu-smollm2.toml").read_text(encoding="utf-8")


def test_the_shipped_profiles_bear_their_file_names() -> None:
    assert list_profiles() == ["cpu-smollm2", "mi300x-8-qwen3-235b"]
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


@pytest.mark.parametrize("name", list_profiles())
def test_a_draft_model_is_split_as_its_target_is(name: str) -> None:
    """vLLM refuses another degree only when it loads the model, which no check of the command line comes to."""
    profile = load_profile(name)
    draft = profile.layers.speculation.methods["draft_model"].config
    assert draft.get("draft_tensor_parallel_size", 1) == profile.engine.flags.get("tensor-parallel-size", 1)
