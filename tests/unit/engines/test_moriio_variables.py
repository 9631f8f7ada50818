"""Variables that once set MoRI-IO up: refused in a profile, told of in a shell, kept from the engines."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from labkit.cli import fleet as cli
from labkit.core.arms import arm_named
from labkit.core.errors import BadInput
from labkit.engines.environment import engine_environment
from labkit.engines.fleet import Fleet
from labkit.engines.moriio import ignored_variables
from labkit.engines.moriio.old_variables import shell_remarks
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import Profile, load_profile
from labkit.engines.registry import Engine
from labkit.engines.starting import this_process
from labkit.experiments.fleet_provider import FleetProvider

MI300X = load_profile("mi300x-8-qwen3-235b")
READ_MODE = "VLLM_MORIIO_CONNECTOR_READ_MODE"
SHELL = {READ_MODE: "1", "VLLM_MORIIO_TRANSFER_TIMEOUT_S": "9", "HOME": "/root"}


def profile_with(**tables: dict[str, str]) -> Profile:
    """`engine` and `pd_split`: their `env`, added to."""
    data = MI300X.model_dump()
    data["engine"]["env"] |= tables.get("engine", {})
    data["layers"]["pd_split"]["env"] |= tables.get("pd_split", {})
    return Profile.model_validate(data)


@pytest.mark.parametrize(
    ("table", "field", "name", "why", "instead"),
    [
        ("engine", "engine.env", READ_MODE, "vLLM 0.32 ignores it", "read_mode = true"),
        ("pd_split", "layers.pd_split.env", READ_MODE, "vLLM 0.32 ignores it", "read_mode = true"),
        ("engine", "engine.env", "VLLM_MORIIO_QP_PER_TRANSFER", "ignores it", "qp_per_transfer = 1"),
        ("engine", "engine.env", "VLLM_MORIIO_POST_BATCH_SIZE", "ignores it", "post_batch_size = -1"),
        ("engine", "engine.env", "VLLM_MORIIO_NUM_WORKERS", "ignores it", "num_workers = 1"),
        ("engine", "engine.env", "VLLM_MORIIO_TRANSFER_TIMEOUT_S", "only where", "recv_abort_timeout = 120"),
        ("engine", "engine.env", "VLLM_MORIIO_CONNECTOR_NUM_WORKERS", "reads no variable of this name", "what is"),
    ],
)
def test_a_profile_with_one_is_refused(table: str, field: str, name: str, why: str, instead: str) -> None:
    profile = profile_with(**{table: {name: "1"}})
    for arm in ("base", "all"):
        with pytest.raises(BadInput) as caught:
            make_plan(profile, arm_named(arm))
        assert caught.value.field == f"{field}.{name}"
        assert why in caught.value.hint
        assert instead in caught.value.hint
        assert "[layers.pd_split.connector.kv_connector_extra_config]" in caught.value.hint


def test_the_shells_are_listed_with_what_to_write_and_no_other_variable_is() -> None:
    found = ignored_variables({**SHELL, "VLLM_USE_V1": "1"})
    assert list(found) == [READ_MODE, "VLLM_MORIIO_TRANSFER_TIMEOUT_S"]
    assert "read_mode = true" in found[READ_MODE]


def test_an_engine_does_not_get_them_nor_what_steers_mori_itself() -> None:
    inherited = {**SHELL, "MORI_DISABLE_AUTO_XGMI": "1"}
    assert engine_environment(inherited, {"A": "b"}) == {"HOME": "/root", "A": "b"}


def test_only_a_plan_with_moriio_has_something_to_say_of_them() -> None:
    assert [words.split()[0] for words in shell_remarks(_plan("pd"), SHELL)] == sorted(SHELL)[1:]
    assert shell_remarks(_plan("prefix"), SHELL) == []
    assert shell_remarks(_plan("pd"), {"HOME": "/root"}) == []


def _plan(arm: str) -> Plan:
    return make_plan(MI300X, arm_named(arm))


def _up(plan: Plan) -> Engine:
    """As if it were up: no process is started."""
    return Engine(id="one", plan=plan, processes=(), owner=this_process(), ready=True)


def test_labkit_up_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def up(plan: Plan) -> Engine:
        return _up(plan)

    monkeypatch.setattr(cli, "_up", up)
    monkeypatch.setenv(READ_MODE, "1")
    app = typer.Typer()
    cli.register(app)
    said = {
        arm: CliRunner().invoke(app, ["up", "--profile", MI300X.name, "--arm", arm], catch_exceptions=False).stderr
        for arm in ("pd", "prefix")
    }
    assert f"{READ_MODE} is set in the shell and has no effect" in said["pd"]
    assert said["prefix"] == ""


class AlwaysUp(Fleet):
    """Every plan has an engine already."""

    def find(self, plan: Plan) -> Engine | None:
        return _up(plan)

    async def registered(self, engine: Engine) -> Engine:
        return engine


def test_a_run_says_it_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(READ_MODE, "1")
    provider = FleetProvider(AlwaysUp(tmp_path), MI300X)
    served = [asyncio.run(provider.serve(arm_named(arm))) for arm in ("prefix", "pd", "all")]
    assert [len(each.trouble) for each in served] == [0, 1, 0]
    assert served[1].trouble[0].startswith(f"{READ_MODE} is set in the shell and has no effect")
