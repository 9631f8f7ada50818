"""A process of the plan as Ray Serve's LLMConfig."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from labkit.core.masking import is_secret, masked, masked_words
from labkit.engines.deploy.arguments import options
from labkit.engines.deploy.deployment import VISIBLE_DEVICES, gpus_of
from labkit.engines.deploy.ray_serve.connector import connector, port_bases
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.profiles import Profile

OF_RAY = ("model", "served_model_name", "host", "port", "distributed_executor_backend")
"""Arguments that Ray Serve sets itself and refuses in `engine_kwargs`, or that are its proxy's."""
_ADDRESSES = ("VLLM_HOST_IP", "VLLM_NIXL_SIDE_CHANNEL_HOST", "VLLM_NIXL_SIDE_CHANNEL_PORT")
_SPLIT = "kv_transfer_config"


def llm_config(profile: Profile, plan: Plan, process: ProcessSpec) -> dict[str, Any]:
    """One deployment of an engine; its replicas are for the caller to say."""
    arguments = engine_kwargs(process)
    ours = {name: value for name, value in arguments.items() if name not in OF_RAY}
    bases = port_bases(ours.get(_SPLIT, {}), process.env)
    if _SPLIT in ours:
        ours[_SPLIT] = connector(ours[_SPLIT])
    return {
        "model_loading_config": {"model_id": plan.model, "model_source": _source(process, arguments)},
        **_hardware(profile, plan, process),
        "engine_kwargs": ours,
        "runtime_env": {"env_vars": env_vars(process)},
        **({"experimental_configs": bases} if bases else {}),
    }


def engine_kwargs(process: ProcessSpec) -> dict[str, Any]:
    """The command line's options as vLLM's arguments: `--no-x` is x = false, JSON and numbers are values."""
    return dict(_argument(name, value) for name, value in options(masked_words(process.argv)).items())


def env_vars(process: ProcessSpec) -> dict[str, str]:
    """The plan's environment without what Ray sets (GPUs, addresses) and without secrets."""
    left = {name: value for name, value in process.env.items() if name not in (*VISIBLE_DEVICES, *_ADDRESSES)}
    return {name: masked(name, value) for name, value in left.items() if not is_secret(name)}


def _argument(name: str, value: str | None) -> tuple[str, Any]:
    if value is None:
        off = name.startswith("--no-")
        return name.removeprefix("--no-" if off else "--").replace("-", "_"), not off
    return name.removeprefix("--").replace("-", "_"), _value(value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _source(process: ProcessSpec, arguments: dict[str, Any]) -> str:
    """`--model M`, or what follows `vllm serve`."""
    return str(arguments.get("model") or process.argv[2])


def _hardware(profile: Profile, plan: Plan, process: ProcessSpec) -> dict[str, Any]:
    """A share of a GPU per worker where processes of the plan share one; all workers on one node, as in the plan."""
    if profile.machine.vendor == "cpu":
        return {"accelerator_config": {"kind": "cpu"}}
    gpus = gpus_of(profile, process.role)
    users = Counter(gpu for one in plan.processes for gpu in gpus_of(profile, one.role))
    share = 1 / max((users[gpu] for gpu in gpus), default=1)
    bundle = {"CPU": 1, "GPU": 1 if share == 1 else share}
    return {"placement_group_config": {"bundle_per_worker": bundle, "strategy": "STRICT_PACK"}}
