"""Plans put to an engine: each process by its own check, the first refusal in the engine's words, nothing guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import stub_vllm

from labkit.core.progress import Progress
from labkit.engines.accepts import plans as accepts_plans
from labkit.engines.accepts.configs import model_configs
from labkit.engines.accepts.plan_words import models_in, question_of, serve_words
from labkit.engines.accepts.plans import PlansTold, Verdict, ask_plans, asker_of, engine_name
from labkit.engines.plan import Plan, ProcessSpec
from labkit.engines.profiles import list_profiles, load_profile

MORIIO = {"kv_connector": "MoRIIOConnector", "kv_role": "kv_producer"}


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(accepts_plans, "model_configs", lambda: stub_vllm.MODELS)
    return stub_vllm.install(tmp_path)


def engine(*words: str, role: str = "engine", model: str = "some/model", **env: str) -> ProcessSpec:
    return ProcessSpec(role=role, argv=("vllm", "serve", model, *words), env=env)


def plan(*processes: ProcessSpec) -> Plan:
    ports = {process.role: 1 for process in processes}
    about: dict[str, Any] = {"profile": "p", "arm": "base", "model": "m", "method": None, "salted": False}
    return Plan(layout=processes, ports=ports, max_startup_s=1, expected_start_s=1, **about)


def verdict(stub: str, *processes: ProcessSpec) -> Verdict:
    made = plan(*processes)
    return ask_plans([made], python=stub).verdicts[made.key]


def test_what_let_it_through_is_named_in_order(stub: str) -> None:
    extra = {**MORIIO, "kv_connector_extra_config": {"http_port": "1"}}
    told = verdict(stub, engine("--kv-transfer-config", json.dumps(extra)))
    checks = ("argument parser", "options of the server", "config classes", "MoRI-IO's settings")
    assert told == Verdict(status="accepted", reached=checks)


@pytest.mark.parametrize(
    ("process", "said", "reached"),
    [
        (engine("--block-sise", "1"), "unrecognized arguments: --block-sise 1", 0),
        (engine("--tools"), "TypeError: --tools needs --tool-parser", 1),
        (engine("--max-num-seqs", "-1"), "ValueError: max_num_seqs of some/model must be at least 1", 2),
        (engine(VLLM_STUB_REFUSES="1"), "ValueError: told to by the plan's environment", 2),
        (engine("--kv-transfer-config", json.dumps(MORIIO)), "KeyError: 'http_port'", 3),
    ],
)
def test_each_check_refuses_in_its_own_words(stub: str, process: ProcessSpec, said: str, reached: int) -> None:
    told = verdict(stub, process)
    assert (told.status, told.said, told.role, len(told.reached)) == ("refused", said, "engine", reached)


def test_one_refused_process_is_a_refused_plan(stub: str) -> None:
    told = verdict(stub, engine(role="prefill"), engine("--nope", role="decode"))
    assert (told.status, told.role, told.said) == ("refused", "decode", "unrecognized arguments: --nope")


def test_one_plan_s_environment_does_not_reach_the_next(stub: str) -> None:
    bad, good = plan(engine(VLLM_STUB_REFUSES="1")), plan(engine())
    told = ask_plans([bad, good], python=stub)
    assert [told.verdicts[each.key].status for each in (bad, good)] == ["refused", "accepted"]
    assert (told.engine, told.version, told.platform) == ("vLLM", "9.9", "stub")


def test_variables_that_hide_devices_stay_out(stub: str, tmp_path: Path) -> None:
    path = tmp_path / "vllm" / "engine" / "arg_utils.py"
    text = path.read_text()
    assert "VLLM_STUB_REFUSES" in text
    path.write_text(text.replace("VLLM_STUB_REFUSES", "HIP_VISIBLE_DEVICES"))
    assert verdict(stub, engine(HIP_VISIBLE_DEVICES="0,1,2,3")).status == "accepted"


def test_a_drafter_within_json_is_a_folder_for_the_engine(stub: str) -> None:
    config = json.dumps({"method": "draft_model", "model": "some/model"})
    assert verdict(stub, engine("--speculative-config", config)).status == "accepted"


@pytest.mark.parametrize(
    "process", [engine(model="who/knows"), engine("--speculative-config", '{"model":"who/knows"}')]
)
def test_a_model_that_nobody_described_is_not_tried(stub: str, process: ProcessSpec, tmp_path: Path) -> None:
    told = verdict(stub, process)
    assert (told.status, told.said) == ("not tried", "no config.json of who/knows is here")
    assert stub_vllm.imports(tmp_path) == 0


def test_a_router_that_is_not_installed_leaves_the_plan_untried(stub: str) -> None:
    router = ProcessSpec(role="router", argv=("vllm-router", "--port", "1"), env={})
    told = verdict(stub, engine(), router)
    assert (told.status, told.role) == ("not tried", "router")
    assert "vllm-router is not installed here" in told.said


def test_without_an_engine_nothing_was_tried(stub: str) -> None:
    made = plan(engine())
    told = ask_plans([made], python=None)
    assert told.version is None
    assert told.verdicts[made.key] == Verdict(
        status="not tried", said="vLLM is not installed here", role="engine", reached=()
    )


def test_equal_processes_are_asked_once_and_the_wait_is_told(stub: str, tmp_path: Path) -> None:
    said: list[Progress] = []
    ask_plans([plan(engine(role="a"), engine(role="b"))], python=stub, on_progress=said.append)
    assert {(each.stage, each.total) for each in said} == {("asking vLLM", 1)}
    assert stub_vllm.imports(tmp_path) == 1


def test_answers_survive_json(stub: str) -> None:
    told = ask_plans([plan(engine("--nope"))], python=stub)
    assert PlansTold.from_dict(json.loads(json.dumps(told.to_dict()))) == told


def test_words_and_models_of_a_process() -> None:
    python = ("python", "-m", "labkit_vllm_cpu.serve", "--model", "m")
    assert serve_words(python) == ["--model", "m"]
    made = plan(ProcessSpec(role="engine", argv=(*python, "--speculative-config", '{"model":"d"}'), env={}))
    assert models_in(made) == {"m", "d"}
    router = ProcessSpec(role="router", argv=("python", "-m", "vllm_router.launch_router", "--port", "1"), env={})
    assert (question_of(router).kind, question_of(router).given) == ("router", {"argv": ["--port", "1"]})


def test_every_model_that_a_shipped_vllm_profile_names_has_a_config() -> None:
    for name in list_profiles():
        profile = load_profile(name)
        drafts = [method.config.get("model") for method in profile.layers.speculation.methods.values()]
        named = {profile.model.weights or profile.model.path, *drafts} - {None, "{model}"}
        if engine_name(profile) == "vLLM":
            assert named <= set(model_configs()), name


def test_who_is_asked_depends_on_the_engine() -> None:
    cpu = load_profile("cpu-smollm2")
    other = cpu.model_copy(update={"engine": cpu.engine.model_copy(update={"command": "sglang"})})
    assert (engine_name(cpu), engine_name(other)) == ("vLLM", "SGLang")
    assert asker_of(cpu) is not None
