"""The fingerprint of a run's engines: one entry per distinct engine, comparable between machines."""

from pathlib import Path

import pytest

from labkit.core.arms import arm_named
from labkit.core.errors import WeightsError
from labkit.engines.fleet import Fleet
from labkit.engines.plan import make_plan
from labkit.engines.profiles import Profile, load_profile
from labkit.experiments.fingerprint import fingerprint
from labkit.experiments.fleet_provider import FleetProvider


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """The CPU profile with a model that is a path, so that no weights are looked for."""
    real = load_profile("cpu-smollm2")
    model = real.model.model_copy(update={"weights": None, "path": str(tmp_path / "some-model")})
    return real.model_copy(update={"model": model})


def test_arms_that_share_an_engine_are_one_entry_and_ports_and_folders_are_left_out(profile: Profile):
    plans = [make_plan(profile, arm_named(arm), salted=True) for arm in ("base", "prefix", "spec")]
    known = fingerprint(profile, plans)
    assert set(known["engines"]) == {plans[0].key, plans[2].key}
    (process,) = known["engines"][plans[0].key]["processes"]
    assert "some-model" in process["argv"]
    assert "{port:engine}" in process["argv"]
    assert not [word for word in process["argv"] if word.startswith("/")]
    assert known["model"] == "smollm2-135m"


def test_weights_that_are_not_there_are_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_MODELS", str(tmp_path / "empty"))
    provider = FleetProvider(Fleet(tmp_path), load_profile("cpu-smollm2"))
    with pytest.raises(WeightsError, match="not ready"):
        provider.fingerprint([arm_named("base")])
