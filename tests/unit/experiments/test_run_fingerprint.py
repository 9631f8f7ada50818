"""The fingerprint of a run's engines: one entry per distinct engine, comparable between machines."""

import json
import sys
from pathlib import Path

import pytest

from labkit.core.arms import arm_named
from labkit.core.errors import WeightsError
from labkit.core.masking import MASK
from labkit.engines.fleet import Fleet
from labkit.engines.plan import make_plan
from labkit.engines.profiles import Profile, load_profile
from labkit.experiments.fingerprint import fingerprint
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.serving import Served, StaticProvider


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


def test_an_engine_with_a_python_of_its_own_tells_its_packages(profile: Profile, monkeypatch: pytest.MonkeyPatch):
    assert "engine_packages" not in fingerprint(profile, []), "labkit's own packages are in the host's part"
    gpu = load_profile("mi300x-8-qwen3-235b")
    monkeypatch.setattr("labkit.experiments.fingerprint.engine_python", lambda _: sys.executable)
    assert fingerprint(gpu, [])["engine_packages"]["torch"]
    monkeypatch.setattr("labkit.experiments.fingerprint.engine_python", lambda _: "/nowhere/python")
    assert "engine_packages" not in fingerprint(gpu, [])


def test_weights_that_are_not_there_are_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_MODELS", str(tmp_path / "empty"))
    provider = FleetProvider(Fleet(tmp_path), load_profile("cpu-smollm2"))
    with pytest.raises(WeightsError, match="not ready"):
        provider.fingerprint([arm_named("base")])


async def test_no_secret_of_an_engine_is_in_what_a_run_writes_and_the_engine_still_gets_it(profile: Profile):
    engine = profile.engine.model_copy(
        update={
            "flags": {**profile.engine.flags, "api-key": "hunter2", "hf_token": "hunter2"},
            "env": {**profile.engine.env, "HF_TOKEN": "hunter2"},
        }
    )
    with_secrets = profile.model_copy(update={"engine": engine})
    plan = make_plan(with_secrets, arm_named("prefix"), salted=True)
    served = Served(
        engine="e", base_url="http://me:hunter2@127.0.0.1:1", model="m", switched_by="flag", plan=plan.to_dict()
    )
    for written in (fingerprint(with_secrets, [plan]), served.facts()):
        text = json.dumps(written)
        assert "hunter2" not in text
        assert "--block-size" in text
    assert "hunter2" in plan.layout[0].argv
    assert plan.layout[0].env["HF_TOKEN"] == "hunter2"
    attached = StaticProvider({"base": "http://me:hunter2@127.0.0.1:1"}, "m")
    assert attached.fingerprint([arm_named("base")])["engines"] == {"base": f"http://{MASK}@127.0.0.1:1"}
    assert (await attached.serve(arm_named("base"))).base_url == "http://me:hunter2@127.0.0.1:1"


@pytest.mark.parametrize("gpus", [[], [{"market_name": "AMD Instinct MI300X", "memory_partition": "NPS1", "count": 8}]])
def test_gpus_of_the_machine_are_in_it_where_there_are_any(
    profile: Profile, gpus: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("labkit.experiments.fingerprint.gpus_alike", lambda: gpus)
    assert fingerprint(profile, []).get("gpus", []) == gpus
