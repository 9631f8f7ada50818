"""Ray Serve gets the plan, less what Ray does itself; what it cannot say is refused. Ray itself: tests/engine."""

from __future__ import annotations

from typing import Any

import pytest
from unit.engines.deploy.deployed import EVERY, SPLIT, documents, planned, text_of

from labkit.core.errors import LabError
from labkit.engines.deploy import deploy_files
from labkit.engines.deploy.ray_serve.engine import engine_kwargs, env_vars
from labkit.engines.plan_records import ProcessSpec
from labkit.engines.profiles import Profile, load_profile

VLLM = [(name, arm) for name, arm in EVERY if load_profile(name).engine.command == "vllm"]


def arguments(name: str, arm: str) -> dict[str, Any]:
    (document,) = documents(name, arm, "ray-serve")
    found: dict[str, Any] = document["applications"][0]["args"]
    return found


def with_split(name: str, **changes: Any) -> Profile:
    profile = load_profile(name)
    split = profile.layers.pd_split.model_copy(update=changes)
    return profile.model_copy(update={"layers": profile.layers.model_copy(update={"pd_split": split})})


@pytest.mark.parametrize(("name", "arm"), VLLM)
def test_engines_have_the_plans_environment(name: str, arm: str) -> None:
    _, plan = planned(name, arm)
    args = arguments(name, arm)
    configs = args.get("llm_configs") or [args["prefill_config"], args["decode_config"]]
    for process, config in zip(plan.processes, configs, strict=False):
        env = config["runtime_env"]["env_vars"]
        assert env.items() <= process.env.items()
        gone = set(process.env) - set(env)
        assert gone <= {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "VLLM_HOST_IP"} | {
            name for name in process.env if "SIDE_CHANNEL" in name
        }
        assert config["model_loading_config"]["model_source"] == load_profile(name).model.path


def test_options_become_values() -> None:
    argv = ("vllm", "serve", "m", "--block-size", "16", "--gpu-memory-utilization", "0.9", "--kv-cache-dtype", "auto")
    more = ("--enable-expert-parallel", "--no-enable-prefix-caching", "--speculative-config", '{"method":"ngram"}')
    process = ProcessSpec(role="engine", argv=(*argv, *more), env={"A": "1", "MY_TOKEN": "hunter2"})
    assert engine_kwargs(process) == {
        "block_size": 16,
        "gpu_memory_utilization": 0.9,
        "kv_cache_dtype": "auto",
        "enable_expert_parallel": True,
        "enable_prefix_caching": False,
        "speculative_config": {"method": "ngram"},
    }
    assert env_vars(process) == {"A": "1"}


def test_the_builder_follows_the_arm() -> None:
    builders = {arm: documents(SPLIT, arm, "ray-serve")[0]["applications"][0]["import_path"] for arm in ("base", "all")}
    assert builders == {"base": "ray.serve.llm:build_openai_app", "all": "ray.serve.llm:build_pd_openai_app"}


def test_it_listens_on_this_machine_at_the_plans_port() -> None:
    (document,) = documents(SPLIT, "base", "ray-serve")
    assert document["http_options"] == {"host": "127.0.0.1", "port": 8300}


def test_what_moriio_would_tell_a_router_is_left_out() -> None:
    config = arguments(SPLIT, "pd")["decode_config"]
    extra = config["engine_kwargs"]["kv_transfer_config"]["kv_connector_extra_config"]
    assert not {"proxy_ip", "proxy_ping_port", "http_port", "handshake_port", "notify_port"} & set(extra)
    assert config["experimental_configs"] == {"MORI_HANDSHAKE_PORT_BASE": 7301, "MORI_NOTIFY_PORT_BASE": 7501}


@pytest.mark.parametrize(
    ("profile", "arm", "said"),
    [
        (load_profile("mi300x-8-qwen3-235b-sglang"), "base", "SGLang"),
        (with_split(SPLIT, transfer="mooncake"), "pd", "mooncake"),
        (with_split(SPLIT, router_policy="cache_aware"), "base", "cache_aware"),
    ],
)
def test_what_ray_cannot_say_is_refused_and_what_can_is_named(profile: Profile, arm: str, said: str) -> None:
    with pytest.raises(LabError, match=said) as refused:
        deploy_files(*planned(profile, arm), "ray-serve")
    assert "--as k8s" in refused.value.hint


def test_the_head_says_what_ray_changes() -> None:
    head = text_of(SPLIT, "pd", "ray-serve").split("proxy_location")[0]
    assert "vllm-router" in head
    assert "HF_TOKEN" in head
