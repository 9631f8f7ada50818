"""SGLang itself, without a GPU: its parser, its resolution and its checks of every plan; its own metrics pages."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import sglang_record
import sglang_wheel

from labkit.core.arms import ARMS, arm_named
from labkit.engines.accepts.configs import model_configs
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.sglang.accepts import SglangVerdict, Told, ask, sglang_python

pytestmark = pytest.mark.engine

NAME = "mi300x-8-qwen3-235b-sglang"
MODEL = "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"
HEAD = "nebius/EAGLE3-Qwen3-235B-A22B-Instruct-2507"
PINNED = (
    *("max_running_requests", "mem_fraction_static", "chunked_prefill_size", "attention_backend", "page_size"),
    *("disable_overlap_schedule", "schedule_policy", "enable_mixed_chunk", "ep_size", "tp_size", "random_seed"),
    *("moe_runner_backend", "sampling_backend", "grammar_backend", "kv_cache_dtype", "stream_interval"),
)
READ = (*PINNED, "disable_radix_cache", "disaggregation_mode", "speculative_algorithm", "cuda_graph_config")


def arms_of(name: str, method: str | None = None) -> dict[str, Plan]:
    profile = load_profile(name)
    return {arm.label: make_plan(profile, arm, spec_method=method) for arm in ARMS}


def broken() -> Plan:
    """SGLang must refuse this one, or its acceptance means nothing."""
    profile = load_profile(NAME)
    flags = {**profile.engine.flags, "speculative-typo": 3}
    engine = profile.engine.model_copy(update={"flags": flags})
    return make_plan(profile.model_copy(update={"engine": engine}), arm_named("base"))


def unpinned(arm: str) -> Plan:
    """Without two of the pins, to see what a layer would change."""
    profile = load_profile(NAME)
    dropped = ("max-running-requests", "cuda-graph-bs-decode")
    flags = {name: value for name, value in profile.engine.flags.items() if name not in dropped}
    engine = profile.engine.model_copy(update={"flags": flags})
    return make_plan(profile.model_copy(update={"engine": engine}), arm_named(arm))


def larger_pages() -> Plan:
    """NGRAM in larger pages, written past this lab's own rule, to hear SGLang's."""
    plan = make_plan(load_profile(NAME), arm_named("spec"))
    layout = tuple(
        process
        if process.role == "router"
        else process.__class__.from_dict({**process.to_dict(), "argv": paged(process.argv)})
        for process in plan.layout
    )
    return Plan.from_dict({**plan.to_dict(), "layout": [process.to_dict() for process in layout]})


def paged(argv: tuple[str, ...]) -> list[str]:
    at = argv.index("--page-size")
    return [*argv[: at + 1], "16", *argv[at + 2 :]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    return sglang_wheel.python(tmp_path_factory.mktemp("sglang"))


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    """By name: eight arms with each drafter, and what each variant changes."""
    methods = load_profile(NAME).layers.speculation.methods
    found = {f"{method}/{arm}": plan for method in methods for arm, plan in arms_of(NAME, method).items()}
    for variant in load_profile(NAME).variants:
        found |= {f"{variant}/{arm}": plan for arm, plan in arms_of(f"{NAME}+{variant}").items()}
    return {**found, "broken": broken(), "larger pages": larger_pages()} | {
        f"unpinned/{arm}": unpinned(arm) for arm in ("base", "spec")
    }


@pytest.fixture(scope="module")
def told(program: str, plans: dict[str, Plan]) -> Told:
    """One process of SGLang for all plans."""
    head = {
        **{"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": 4096},
        **{"num_hidden_layers": 1, "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128},
        **{"intermediate_size": 12288, "vocab_size": 151936, "draft_vocab_size": 32000, "torch_dtype": "bfloat16"},
    }
    models = {name: model_configs()[name] for name in (MODEL, "Qwen/Qwen3-0.6B")} | {HEAD: head}
    return ask(list(plans.values()), models, python=program, read=READ, limit_s=500)


def verdict(told: Told, plans: dict[str, Plan], name: str) -> SglangVerdict:
    return told.verdicts[plans[name].key]


def test_sglang_accepts_every_arm_with_every_drafter_and_transfer(told: Told, plans: dict[str, Plan]) -> None:
    said = {name: verdict(told, plans, name) for name in plans if "/" in name}
    assert len(said) == 50
    assert {name: each.said for name, each in said.items() if each.status != "accepted"} == {}
    assert all(len(each.reached) == 4 for each in said.values())
    assert (told.version, told.platform) == ("0.5.23", "cpu")


def test_it_refuses_in_its_own_words_what_it_cannot_have(told: Told, plans: dict[str, Plan]) -> None:
    unknown, pages = verdict(told, plans, "broken"), verdict(told, plans, "larger pages")
    assert (unknown.status, unknown.reached, unknown.role) == ("refused", (), "engine-0")
    assert "--speculative-typo" in unknown.said
    assert (pages.status, pages.reached) == ("refused", ("SGLang's parser",))
    assert "page_size(16) > 1" in pages.said


def test_no_layer_changes_what_is_pinned(told: Told, plans: dict[str, Plan]) -> None:
    """After SGLang has resolved the arguments: not what was asked for, but what it makes of it."""
    for method in load_profile(NAME).layers.speculation.methods:
        seen = [
            {name: read[name] for name in PINNED} | {"decode graphs": _graphs(read)}
            for arm in ARMS
            for role, read in verdict(told, plans, f"{method}/{arm}").read.items()
            if role != "router" and role != "prefill"  # prefill decodes nothing and captures nothing
        ]
        assert len(seen) == 12
        assert [each for each in seen if each != seen[0]] == []


def test_without_a_pin_speculation_changes_the_batch(told: Told, plans: dict[str, Plan]) -> None:
    base, spec = (verdict(told, plans, f"unpinned/{arm}").read["engine-0"] for arm in ("base", "spec"))
    assert (base["max_running_requests"], spec["max_running_requests"]) == (None, 48)
    assert _graphs(base) != _graphs(spec)


def _graphs(read: dict[str, object]) -> object:
    config = read["cuda_graph_config"]
    assert isinstance(config, dict)
    return config["decode"]["bs"]


def test_the_radix_cache_is_what_the_arm_says_and_off_on_decode(told: Told, plans: dict[str, Plan]) -> None:
    for arm, role in product(ARMS, ("engine-0", "engine-1", "prefill", "decode")):
        read = verdict(told, plans, f"ngram/{arm}").read.get(role)
        if read:
            assert read["disable_radix_cache"] == (not arm.prefix_caching or role == "decode"), f"{arm} {role}"
    assert verdict(told, plans, "decode-cache/all").read["decode"]["disable_radix_cache"] is False
    assert verdict(told, plans, "decode-cache/pd+spec").read["decode"]["disable_radix_cache"] is True


def test_the_recorded_pages_are_what_sglangs_collectors_write(program: str, tmp_path: Path) -> None:
    sglang_record.record(program, tmp_path)
    kept = sorted(path.name for path in sglang_record.PAGES.glob("*.txt"))
    assert sorted(path.name for path in tmp_path.glob("*.txt")) == kept
    for name in kept:
        assert (tmp_path / name).read_text() == (sglang_record.PAGES / name).read_text(), name


def test_the_python_is_named_by_a_variable(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_SGLANG_PYTHON", program)
    assert sglang_python() == program
