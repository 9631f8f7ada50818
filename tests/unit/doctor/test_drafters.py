"""The drafters' models as the doctor reads them: by the profile's methods, in the hub's cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.doctor.environment.drafters import drafter, others
from labkit.doctor.reading import facts
from labkit.engines.profiles import load_profile

PROFILE = "mi300x-8-qwen3-30b-a3b"
HEAD = load_profile(PROFILE).layers.speculation.methods["eagle3"].config["model"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("RUNS", "STATE", "MODELS"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there: no test asks the hub
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def keep(cache: Path, model: str) -> None:
    """A whole snapshot of 3 GB, as far as its length tells."""
    folder = cache / f"models--{model.replace('/', '--')}" / "snapshots" / "1"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(3_000_000_000)


def test_a_head_that_is_not_in_the_cache_stops_the_arms_with_speculation_where_the_hub_does_not_answer() -> None:
    (check,) = drafter(facts(PROFILE))
    assert check.status == "fail"
    assert check.found.startswith(f"eagle3, the default: {HEAD} is not, or not wholly, in the hub's cache")
    assert check.command == f"labkit models fetch {HEAD}"
    assert check.stops == ("spec", "prefix+spec", "pd+spec", "all")


def test_one_that_is_there_is_told_with_the_size_of_its_files(cache: Path) -> None:
    keep(cache, HEAD)
    keep(cache, "Qwen/Qwen3-0.6B")
    seen = facts(PROFILE)
    (check,), (more,) = drafter(seen), others(seen)
    assert (check.status, check.stops) == ("ok", ())
    assert check.found == f"eagle3, the default: {HEAD}: ready (in the hub's cache, 3.0 GB)"
    assert more.found == (
        "draft_model: Qwen/Qwen3-0.6B is ready (in the hub's cache, 3.0 GB); "
        "draft_model_1_7b: Qwen/Qwen3-1.7B is not here yet"
    )


def test_nobody_guesses_how_large_a_head_is() -> None:
    assert all(each.weights.size is None for each in facts(PROFILE).drafters)


def test_drafters_without_a_model_of_their_own_are_not_told() -> None:
    assert facts("cpu-smollm2").drafters == ()
    seen = facts("mi300x-8-qwen3-235b-sglang")
    assert drafter(seen) == []
    assert [each.method for each in seen.drafters] == ["eagle3", "draft_model"]
    assert "nebius/EAGLE3-Qwen3-235B-A22B-Instruct-2507 is not here yet" in others(seen)[0].found
