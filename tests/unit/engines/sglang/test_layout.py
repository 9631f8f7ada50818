"""SGLang's plans: what each role's command line says, and that the arms differ by their layers alone."""

from __future__ import annotations

from itertools import product

import pytest

from labkit.core.arms import ARMS, arm_named
from labkit.core.errors import BadInput
from labkit.engines.plan import Plan, make_plan
from labkit.engines.plan_diff import LAYER_SETTINGS, diff
from labkit.engines.profiles import Profile, load_profile
from labkit.engines.sglang.flags import to_argv

NAME = "mi300x-8-qwen3-235b-sglang"
PROFILE = load_profile(NAME)


def plan(arm: str, profile: Profile = PROFILE, method: str | None = None) -> Plan:
    return make_plan(profile, arm_named(arm), spec_method=method)


def argv(plan: Plan, role: str) -> tuple[str, ...]:
    return next(process.argv for process in plan.processes if process.role == role)


def option(plan: Plan, role: str, name: str) -> str | None:
    words = argv(plan, role)
    return words[words.index(name) + 1] if name in words else None


def test_the_server_is_started_as_a_module_with_what_the_profile_says() -> None:
    base = plan("base")
    assert [process.role for process in base.processes] == ["engine-0", "engine-1", "router"]
    assert argv(base, "engine-0")[:5] == (
        *("python3", "-m", "sglang.launch_server"),
        *("--model-path", "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"),
    )
    assert (option(base, "engine-0", "--host"), option(base, "engine-0", "--port")) == ("127.0.0.1", "30000")
    graphs = argv(base, "engine-0").index("--cuda-graph-bs-decode")
    assert argv(base, "engine-0")[graphs + 1 : graphs + 4] == ("1", "2", "3")
    assert base.processes[1].env["HIP_VISIBLE_DEVICES"] == "4,5,6,7" == base.processes[1].env["CUDA_VISIBLE_DEVICES"]


def test_the_radix_cache_is_switched_off_where_the_arm_has_no_prefix_layer() -> None:
    for arm in ARMS:
        for process in make_plan(PROFILE, arm).processes[:2]:
            assert ("--disable-radix-cache" in process.argv) == (not arm.prefix_caching)
    salted = make_plan(PROFILE, arm_named("base"), salted=True)
    assert salted.key == plan("prefix").key


def test_both_halves_of_a_split_are_told_their_side_and_the_bootstrap_port() -> None:
    split = plan("all")
    for role in ("prefill", "decode"):
        assert option(split, role, "--disaggregation-mode") == role
        assert option(split, role, "--disaggregation-transfer-backend") == "mori"
        assert option(split, role, "--disaggregation-bootstrap-port") == "8998"
        assert option(split, role, "--speculative-algorithm") == "NGRAM"
    router = argv(split, "router")
    at = router.index("--prefill")
    assert router[at : at + 5] == ("--prefill", "http://127.0.0.1:30000", "8998", "--decode", "http://127.0.0.1:30001")


def test_every_arm_has_the_same_router_with_the_same_policy() -> None:
    pairing = {"--pd-disaggregation", "--prefill", "--decode", "--worker-urls"}
    for left, right in product(ARMS, ARMS):
        one, other = make_plan(PROFILE, left), make_plan(PROFILE, right)
        settings = {each.setting for each in diff(one, other) if each.role == "router"}
        assert settings == (pairing if left.pd_split != right.pd_split else set())
        assert option(one, "router", "--policy") == "consistent_hashing"


@pytest.mark.parametrize("method", PROFILE.layers.speculation.methods)
@pytest.mark.parametrize("name", [NAME, f"{NAME}+mooncake", f"{NAME}+mooncake-tcp"])
def test_what_differs_belongs_to_the_layers_that_differ(name: str, method: str) -> None:
    profile = load_profile(name)
    for left, right in product(ARMS, ARMS):
        owned = {setting for layer in set(left.layers) ^ set(right.layers) for setting in LAYER_SETTINGS[layer]}
        plans = (make_plan(profile, arm, spec_method=method) for arm in (left, right))
        found = {each.setting for each in diff(*plans) if each.role != "router"}
        assert found <= owned, f"{left} and {right}"
        assert bool(found) == (left != right)


def test_what_speculation_would_change_behind_ones_back_is_stated_for_all_arms() -> None:
    """Each of these has another default with a drafter, or on one side of a split (arg_groups of SGLang)."""
    stated = {"max-running-requests", "mem-fraction-static", "chunked-prefill-size", "cuda-graph-bs-decode"}
    assert stated | {"attention-backend", "page-size", "schedule-policy", "random-seed"} <= set(PROFILE.engine.flags)


def test_variants_choose_the_transfer_and_give_decode_a_cache() -> None:
    assert option(plan("pd", load_profile(f"{NAME}+mooncake")), "decode", "--disaggregation-transfer-backend") == (
        "mooncake"
    )
    tcp = plan("pd", load_profile(f"{NAME}+mooncake-tcp"))
    assert option(tcp, "prefill", "--disaggregation-transfer-backend") == "mooncake_tcp"
    cached, flag = load_profile(f"{NAME}+decode-cache"), "--disaggregation-decode-enable-radix-cache"
    assert [flag in argv(plan(arm, cached), "decode") for arm in ("pd", "prefix+pd", "all")] == [False, True, True]
    assert flag not in argv(plan("all", cached), "prefill")
    assert option(plan("all", cached), "decode", "--speculative-algorithm") == "EAGLE3"


def test_a_switch_that_is_off_cannot_be_written() -> None:
    assert to_argv({"a": True, "b": [1, 2], "c": {"d": 1}}) == ("--a", "--b", "1", "2", "--c", '{"d":1}')
    with pytest.raises(BadInput, match="leave out"):
        to_argv({"enable-mixed-chunk": False})


def test_a_transfer_that_sglang_has_not_is_refused() -> None:
    pd = PROFILE.layers.pd_split.model_copy(update={"transfer": "nixl"})
    other = PROFILE.model_copy(update={"layers": PROFILE.layers.model_copy(update={"pd_split": pd})})
    with pytest.raises(BadInput, match="mori, mooncake"):
        plan("pd", other)
