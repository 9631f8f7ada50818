"""What the installed vLLM's own MoRI-IO code says, asked in a process of its own: it needs neither GPU nor `mori`.

Standard input: a list of {"configs": {role: --kv-transfer-config}, "tp": N, "request_id": ..., "asked": prefill's
kv_transfer_params}. Standard output, in its last line: a list of what `answers` says to each.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from vllm.config import KVTransferConfig
from vllm.distributed.kv_transfer.kv_connector.v1.moriio import moriio_common as common
from vllm.distributed.kv_transfer.kv_connector.v1.moriio import moriio_connector as connector
from vllm.v1.request import RequestStatus


def answers(asked: dict[str, Any]) -> dict[str, Any]:
    """`heartbeats`: endpoint, payload, interval, retries by role; `peers`: what each side reads in the request id;
    `handed_over`: prefill's answer; `keys`: of the extra config, as its source names them; `variables`: old ones."""
    configs = {role: KVTransferConfig(**config) for role, config in asked["configs"].items()}
    return {
        "heartbeats": {role: _heartbeat(config, asked["tp"]) for role, config in configs.items()},
        "peers": {role: _peer(asked["request_id"], role == "prefill") for role in configs},
        "handed_over": _handed_over(configs["prefill"], asked["tp"], asked["asked"]),
        "keys": sorted(_keys()),
        "variables": common._DEPRECATED_ENV_VARS,
        "defaults": {
            name: getattr(common.MoRIIOConstants, f"DEFAULT_{name.upper()}")
            for name in ("transfer_timeout", "defer_timeout", "recv_abort_timeout")
        },
        "longest_s": common.MoRIIOConstants.VLLM_MORI_READ_ABORT_REQUEST_TIMEOUT,
    }


def _moriio_config(config: KVTransferConfig, tp: int) -> common.MoRIIOConfig:
    parallel = SimpleNamespace(data_parallel_rank=0, data_parallel_size_local=1, data_parallel_size=1)
    with (
        mock.patch.object(common, "get_tensor_model_parallel_rank", return_value=0),
        mock.patch.object(common, "get_tensor_model_parallel_world_size", return_value=tp),
    ):
        return common.MoRIIOConfig.from_vllm_config(
            SimpleNamespace(kv_transfer_config=config, parallel_config=parallel)  # type: ignore[arg-type]
        )


def _heartbeat(config: KVTransferConfig, tp: int) -> list[Any]:
    ours = _moriio_config(config, tp)
    worker = SimpleNamespace(
        is_producer=config.is_kv_producer,
        request_address=f"{ours.local_ip}:{ours.http_port}",
        moriio_config=ours,
        mode=common.get_moriio_mode(config),
        **{name: getattr(ours, name) for name in ("local_ip", "handshake_port", "notify_port", "proxy_ip")},
        proxy_ping_port=ours.proxy_ping_port,
    )
    with mock.patch.object(connector, "MoRIIOHeartbeat") as started:
        connector.MoRIIOConnectorWorker._start_heartbeat(worker)
    return list(started.call_args.args)


def _peer(request_id: str, is_producer: bool) -> list[Any]:
    """vLLM puts its own words around the id that the router sent."""
    found = common.get_peer_zmq_from_request_id(f"chatcmpl-{request_id}-0-abcd1234", is_producer)
    return list(common.parse_moriio_zmq_address(found or ""))


def _handed_over(config: KVTransferConfig, tp: int, params: dict[str, Any]) -> dict[str, Any]:
    ours = _moriio_config(config, tp)
    parallel = SimpleNamespace(data_parallel_size=1, data_parallel_size_local=1, tensor_parallel_size=tp)
    scheduler = SimpleNamespace(
        is_producer=True,
        _has_mamba=False,
        _reqs_need_send={},
        _deferred_send_deadlines={},
        _defer_timeout=ours.defer_timeout,
        _global_dp_rank=0,
        engine_id=f"{ours.local_ip}:{ours.handshake_port}",
        host_ip=ours.local_ip,
        handshake_port=config.kv_connector_extra_config["handshake_port"],
        side_notify_port=config.kv_connector_extra_config["notify_port"],
        vllm_config=SimpleNamespace(parallel_config=parallel),
        get_exchange_clipped_blocks=lambda blocks: blocks,
    )
    request = SimpleNamespace(
        request_id="x", kv_transfer_params=dict(params), status=RequestStatus.FINISHED_LENGTH_CAPPED
    )
    _, answer = connector.MoRIIOConnectorScheduler.request_finished(scheduler, request, [[3, 4, 5]])
    return dict(answer or {})


def _keys() -> set[str]:
    """Every key that the connector's source reads from its extra config."""
    folder = Path(common.__file__).parent
    text = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("moriio_*.py"))
    return set(re.findall(r'extra_config(?:\.get\(|\[)\s*"(\w+)"', text))


if __name__ == "__main__":
    print(json.dumps([answers(asked) for asked in json.load(sys.stdin)]), flush=True)
