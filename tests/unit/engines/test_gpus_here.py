"""A profile for GPUs is refused where there are none, before anything else is asked of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.engines.plans import plan_of, tiny

from labkit.core.arms import arm_named
from labkit.core.errors import EngineError
from labkit.engines.fleet import Fleet
from labkit.engines.gpus_here import device_missing
from labkit.engines.plan import make_plan
from labkit.engines.plan_records import Plan
from labkit.engines.profiles import list_profiles, load_profile


@pytest.mark.parametrize(
    ("vendor", "there", "missing"),
    [
        ("amd", "nvidia0", "kfd"),
        ("amd", "kfd", ""),
        ("nvidia", "kfd", "nvidia0"),
        ("nvidia", "nvidia3", ""),
        ("nvidia", "nvidiactl", ""),
        ("nvidia", "dxg", ""),
        ("cpu", "null", ""),
    ],
)
def test_the_drivers_device_file_tells(tmp_path: Path, vendor: str, there: str, missing: str) -> None:
    (tmp_path / there).touch()
    assert device_missing(vendor, tmp_path) == (str(tmp_path / missing) if missing else "")


@pytest.mark.parametrize("name", list_profiles())
def test_a_plan_says_whose_gpus_it_is_for(name: str) -> None:
    profile = load_profile(name)
    plan = make_plan(profile, arm_named("base"))
    assert plan.vendor == profile.machine.vendor
    assert Plan.from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(("vendor", "words"), [("amd", "AMD GPUs and there is no"), ("nvidia", "NVIDIA GPUs and")])
async def test_a_start_without_the_gpus_names_them_and_not_the_memory(tmp_path: Path, vendor: str, words: str) -> None:
    (tmp_path / "dev").mkdir()
    fleet = Fleet(
        tmp_path / "state", free=lambda: 0, device_missing=lambda whose: device_missing(whose, tmp_path / "dev")
    )
    plan = plan_of(tiny("engine", memory_bytes=1 << 50), vendor=vendor)
    with pytest.raises(EngineError, match=f"profile tiny is for {words}") as refused:
        await fleet.up(plan)
    assert str(tmp_path / "dev") in refused.value.message
    assert "labkit doctor --profile tiny" in refused.value.message  # a run keeps the sentence and not the hint
    assert fleet.ps() == []


async def test_where_they_are_it_starts(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "state", device_missing=lambda whose: "")
    try:
        assert (await fleet.up(plan_of(tiny("engine"), vendor="amd"))).alive
    finally:
        fleet.down()
