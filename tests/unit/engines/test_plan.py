"""Plans: arms differ by their layers alone, in every profile and with every drafter; equal keys mean equal engines."""

from __future__ import annotations

import json
from itertools import pairwise, product

import pytest

from labkit.core.arms import ARMS, BASE, Arm, Layer, arm_named
from labkit.core.errors import BadInput, UnknownName
from labkit.engines.plan import Plan, make_plan
from labkit.engines.plan_diff import LAYER_SETTINGS, diff
from labkit.engines.profiles import Profile, list_profiles, load_profile

CPU = load_profile("cpu-smollm2")
MI300X = load_profile("mi300x-8-qwen3-235b")
CASES = [(name, method) for name in list_profiles() for method in load_profile(name).layers.speculation.methods] + [
    (f"{name}+{variant}", load_profile(f"{name}+{variant}").layers.speculation.default)
    for name in list_profiles()
    for variant in load_profile(name).variants
]


def plan(arm: str, profile: Profile = CPU, **asked: object) -> Plan:
    return make_plan(profile, arm_named(arm), **asked)  # type: ignore[arg-type]


def option(plan: Plan, role: str, name: str) -> str:
    """The value after an option of one process."""
    argv = next(process.argv for process in plan.processes if process.role == role)
    return argv[argv.index(name) + 1]


@pytest.mark.parametrize(("name", "method"), CASES)
def test_arms_differ_by_their_layers_alone(name: str, method: str) -> None:
    profile = load_profile(name)
    for left, right in product(ARMS, ARMS):
        allowed = _owned_by_layers_that_differ(left, right)
        engines = [
            difference
            for difference in diff(
                make_plan(profile, left, spec_method=method), make_plan(profile, right, spec_method=method)
            )
            if difference.role != "router"
        ]
        foreign = {difference.setting for difference in engines} - allowed
        assert foreign == set(), f"{left} and {right}"
        assert bool(engines) == (left != right)


def _owned_by_layers_that_differ(left: Arm, right: Arm) -> set[str]:
    layers: set[Layer] = set(left.layers) ^ set(right.layers)
    return {setting for layer in layers for setting in LAYER_SETTINGS[layer]}


def test_a_router_comes_and_goes_with_the_split_alone() -> None:
    """On the GPUs there is one in every arm; where it is in both, only its pairing may differ."""
    for left, right in product(ARMS, ARMS):
        settings = {d.setting for d in diff(make_plan(MI300X, left), make_plan(MI300X, right)) if d.role == "router"}
        pairing = {"--vllm-pd-disaggregation", "--kv-connector", "--vllm-discovery-address", "--worker-urls"}
        assert settings == (pairing if left.pd_split != right.pd_split else set())


def test_eight_arms_are_eight_engines() -> None:
    for name in list_profiles():
        assert len({make_plan(load_profile(name), arm).key for arm in ARMS}) == len(ARMS)


def test_the_key_ignores_ports_and_nothing_else() -> None:
    one = plan("all")
    assert one.key == one.with_ports({name: 9000 + n for n, name in enumerate(one.port_names)}).key
    assert one.key != plan("all", model_path="/elsewhere").key
    assert one.key != plan("all", cores=[2, 3]).key


def test_salted_base_is_the_prefix_engine() -> None:
    assert plan("base", salted=True).key == plan("prefix", salted=True).key == plan("prefix").key
    assert plan("base", salted=True).salted
    assert not plan("prefix", salted=True).salted
    assert plan("base").key != plan("prefix").key


def test_roles_and_the_way_of_a_request() -> None:
    assert [process.role for process in plan("spec").processes] == ["engine"]
    split = plan("pd")
    assert [process.role for process in split.processes] == ["prefill", "decode", "router"]
    assert split.entry.role == "router"
    assert [process.metrics for process in split.processes] == [True, True, False]
    replicas = plan("base", MI300X)
    assert [process.role for process in replicas.processes] == ["engine-0", "engine-1", "router"]


def test_a_router_knows_the_ports_of_its_engines() -> None:
    split = plan("pd", ports={"prefill": 9001, "decode": 9002, "router": 9003})
    assert option(split, "router", "--prefill") == "http://127.0.0.1:9001"
    assert option(split, "router", "--decode") == "http://127.0.0.1:9002"
    assert (option(split, "prefill", "--port"), split.entry.port) == ("9001", 9003)


def test_moriio_engines_announce_their_own_port_and_listen_apart() -> None:
    split = plan("pd", MI300X)
    assert split.router_first
    for role, port in (("prefill", "20005"), ("decode", "40005")):
        extra = json.loads(option(split, role, "--kv-transfer-config"))["kv_connector_extra_config"]
        assert extra["http_port"] == port == option(split, role, "--port")
        assert extra["proxy_ping_port"] == option(split, "router", "--vllm-discovery-address").split(":")[1]
    listening = sorted(number for name, number in split.ports.items() if "notify" in name or "handshake" in name)
    assert min(b - a for a, b in pairwise(listening)) >= 4


def test_gpus_are_told_in_both_languages_and_are_not_shared() -> None:
    seen: list[str] = []
    for process in plan("pd", MI300X).processes[:2]:
        assert process.env["HIP_VISIBLE_DEVICES"] == process.env["CUDA_VISIBLE_DEVICES"]
        seen += process.env["HIP_VISIBLE_DEVICES"].split(",")
    assert sorted(seen) == list("01234567")


def test_decode_starts_on_the_core_that_prefill_leaves_free() -> None:
    bound = {process.role: process.env.get("LABKIT_VLLM_CPU_BIND") for process in plan("pd").processes}
    assert bound == {"prefill": "0", "decode": "1,0", "router": None}
    four = {p.role: p.env.get("LABKIT_VLLM_CPU_BIND") for p in plan("pd", cores=[4, 5, 6, 7]).processes}
    assert four == {"prefill": "4,5", "decode": "6,7,4,5", "router": None}
    assert {p.env["LABKIT_VLLM_CPU_BIND"] for p in plan("pd", cores=[3]).processes[:2]} == {"3"}


def test_numba_gets_the_number_of_cores_in_every_arm() -> None:
    for arm in ARMS:
        engines = [p for p in make_plan(CPU, arm, cores=[0, 1, 2]).processes if p.role != "router"]
        assert {process.env["NUMBA_NUM_THREADS"] for process in engines} == {"3"}


def test_without_the_fast_start_vllm_binds_and_starts_itself() -> None:
    slow = CPU.model_copy(update={"engine": CPU.engine.model_copy(update={"fast_start": False})})
    (process,) = plan("base", slow).processes
    assert process.argv[1:3] == ("-m", "vllm.entrypoints.openai.api_server")
    assert process.env["VLLM_CPU_OMP_THREADS_BIND"] == "0,1"
    assert "LABKIT_VLLM_CPU_BIND" not in process.env


def test_a_methods_pins_reach_the_arms_without_speculation() -> None:
    assert "--no-async-scheduling" in plan("base", MI300X, spec_method="ngram").processes[0].argv
    assert "--no-async-scheduling" not in plan("base", MI300X).processes[0].argv


def test_the_draft_is_the_model_itself_on_the_cpu() -> None:
    made = plan("spec", spec_method="draft_model", model_path="/models/smol")
    assert json.loads(option(made, "engine", "--speculative-config"))["model"] == "/models/smol"
    assert (made.method, plan("prefix", spec_method="draft_model").method) == ("draft_model", None)


def test_a_plan_can_be_printed_before_the_weights_are_there(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("LABKIT_MODELS", str(tmp_path / "none-yet"))
    made = plan("base")
    assert option(made, "engine", "--model") == str(tmp_path / "none-yet" / "smollm2-135m-instruct")
    assert made.weights == "smollm2-135m-instruct"
    assert plan("base", model_path="/m").weights is None


def test_a_plan_survives_json() -> None:
    for profile, arm in product((CPU, MI300X), ARMS):
        made = make_plan(profile, arm)
        assert Plan.from_dict(json.loads(json.dumps(made.to_dict()))) == made


def test_wrong_names_are_refused() -> None:
    with pytest.raises(UnknownName, match="ngram"):
        plan("base", spec_method="ngrm")
    with pytest.raises(BadInput, match="engine"):
        plan("base", ports={"prefill": 1})
    with pytest.raises(BadInput, match="cores"):
        plan("base", cores=[])
    assert plan("base").arm == BASE.label
