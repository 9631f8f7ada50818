"""The application: one model colocated, or prefill and decode, behind Ray's OpenAI ingress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.core.masking import is_secret
from labkit.engines.deploy.deployment import dns_name
from labkit.engines.deploy.files import DeployFile
from labkit.engines.deploy.ray_serve.engine import llm_config
from labkit.engines.deploy.ray_serve.refusals import ROUTERS, require_sayable
from labkit.engines.deploy.words import head
from labkit.engines.deploy.yaml_text import yaml_text
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.profiles import Profile

COLOCATED, SPLIT = "ray.serve.llm:build_openai_app", "ray.serve.llm:build_pd_openai_app"


def ray_serve_file(profile: Profile, plan: Plan) -> DeployFile:
    """A config file for `serve run`. Raises LabError for what Ray Serve cannot express."""
    engines = [process for process in plan.processes if process.role != "router"]
    split = engines[0].role == "prefill"
    require_sayable(profile, split=split)
    arguments = _split(profile, plan, engines) if split else _colocated(profile, plan, engines)
    name, builder = dns_name(plan), SPLIT if split else COLOCATED
    application = {"name": name, "route_prefix": "/", "import_path": builder, "args": arguments}
    document = {
        "proxy_location": "HeadOnly",
        "http_options": {"host": "127.0.0.1", "port": plan.entry.port},
        "applications": [application],
    }
    said = _said(profile, engines, split)
    return DeployFile("ray_serve.yaml", head(plan, said) + "\n" + yaml_text([document]))


def _split(profile: Profile, plan: Plan, engines: Sequence[ProcessSpec]) -> dict[str, Any]:
    prefill, decode = ({**llm_config(profile, plan, one), "deployment_config": {"num_replicas": 1}} for one in engines)
    return {"prefill_config": prefill, "decode_config": decode}


def _colocated(profile: Profile, plan: Plan, engines: Sequence[ProcessSpec]) -> dict[str, Any]:
    """Engines of a plan differ by GPUs and ports alone: they are replicas of one deployment."""
    replicas: dict[str, Any] = {"num_replicas": len(engines)}
    if len(engines) > 1:
        router = {"request_router_class": ROUTERS[profile.layers.pd_split.router_policy]}
        replicas["request_router_config"] = router
    return {"llm_configs": [{**llm_config(profile, plan, engines[0]), "deployment_config": replicas}]}


def _said(profile: Profile, engines: Sequence[ProcessSpec], split: bool) -> list[str]:
    secrets = sorted({name for one in engines for name in one.env if is_secret(name)} | {"HF_TOKEN"})
    parts = "prefill and decode need one node" if split else "the plan is of one node"
    gpu = profile.machine.gpu
    return [
        "ray start --head; serve run ray_serve.yaml. Needs ray[serve,llm] and this vLLM on every node.",
        f"Start Ray with these set, where they are needed (no secret stands in this file): {', '.join(secrets)}.",
        "",
        "Changed from the plan, since it is Ray's part: Ray's ingress and router stand in the place of vllm-router, so",
        "times at the client are not comparable with other forms of this plan; its workers are not multiprocessing's;",
        "Ray sets the visible GPUs, the addresses and the engines' ports. It places each deployment by itself, and",
        f"{parts}: start it on a cluster of one.",
        "",
        f"Written from source and documents; this project has not run it on {gpu or 'such a machine'}.",
    ]
