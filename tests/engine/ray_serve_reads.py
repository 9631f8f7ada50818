"""In a process of its own: Ray Serve reads config files as `serve run` does, builds the applications, starts nothing.

On standard input a JSON list of documents; on standard output, as the last line, a JSON list of what was made of each.
"""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace
from typing import Any

NODE = "192.0.2.7"
os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # nothing here may start a cluster
sys.modules["amdsmi"] = None  # type: ignore[assignment]  # Ray imports it, and without AMD's driver that is a KeyError


def read(document: dict[str, Any]) -> dict[str, Any]:
    """What Ray makes of one file; `refused` when it does not take it."""
    try:
        return {"refused": None, **_read(document)}
    except Exception as error:  # noqa: BLE001 - whatever Ray raises is the answer
        return {"refused": f"{type(error).__name__}: {error}"}


def _read(document: dict[str, Any]) -> dict[str, Any]:
    import ray
    from ray._common.utils import import_attr  # the way of the controller
    from ray.serve.schema import ServeDeploySchema

    ray.get_runtime_context = lambda: SimpleNamespace(runtime_env={})  # the builders ask for it, and it is a cluster's
    (application,) = ServeDeploySchema.model_validate(document).applications
    configs = _configs(application.args)
    built = import_attr(application.import_path)(application.args)
    return {"engines": [_engine(config) for config in configs], "deployments": _deployments(built)}


def _configs(args: dict[str, Any]) -> list[Any]:
    from ray.llm._internal.serve.core.ingress.builder import LLMServingArgs
    from ray.llm._internal.serve.serving_patterns.prefill_decode.builder import PDServingArgs

    if "llm_configs" in args:
        return list(LLMServingArgs.model_validate(args).llm_configs)
    pair = PDServingArgs.model_validate(args)
    return [pair.prefill_config, pair.decode_config]


def _engine(config: Any) -> dict[str, Any]:
    """What vLLM would be given. `kv`: the transfer's settings once Ray's own backend of the connector has set it up."""
    engine = config.get_engine_config()
    return {
        "kwargs": json.loads(json.dumps(engine.get_initialization_kwargs())),
        "frontend": engine.frontend_kwargs,
        "bundles": engine.placement_bundles,
        "strategy": engine.placement_strategy,
        "kv": _connected(config),
        "side_channel": os.environ.pop("VLLM_NIXL_SIDE_CHANNEL_PORT", None),
    }


def _connected(config: Any) -> dict[str, Any] | None:
    import ray
    from ray.llm._internal.serve.engines.vllm.kv_transfer.factory import KVConnectorBackendFactory

    transfer = config.engine_kwargs.get("kv_transfer_config")
    if transfer is None:
        return None
    ray.util.get_node_ip_address = lambda: NODE  # asking would start a cluster
    backend = KVConnectorBackendFactory.create_backend(transfer["kv_connector"], config)
    backend._compute_port_offset = lambda: 0  # the rank of a replica that is not there
    backend.setup()
    return dict(backend.kv_transfer_config)


def _deployments(application: Any) -> dict[str, dict[str, Any]]:
    """By name: the ingress, the engines that it calls, and the prefill that decode calls."""
    deployment = application._bound_deployment
    config, given = deployment._deployment_config, deployment.init_kwargs
    mine = {"replicas": config.num_replicas, "router": str(config.request_router_config.request_router_class)}
    below = [*given.get("llm_deployments", {}).values(), *filter(None, [given.get("prefill_server")])]
    return {deployment.name: mine, **{name: one for each in below for name, one in _deployments(each).items()}}


if __name__ == "__main__":
    answers = [read(document) for document in json.load(sys.stdin)]
    print("\n" + json.dumps(answers))
