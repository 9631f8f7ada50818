"""`vllm serve` with MoRI-IO as a stand-in: the fake engine over HTTP, and vLLM's own heartbeat program.

It announces itself as vLLM's worker does: the message that `message` makes, sent by `moriio_heartbeat.py` of the
installed vLLM, in a process of its own that ends when its standard input does. As prefill it answers the router's leg
and hands over what vLLM's `request_finished` returns; as decode it streams. What it was asked is at GET /test/received.

Variables of its environment, for tests: STANDIN_REGISTER_AFTER_S, STANDIN_PREFILL_S, STANDIN_CACHED_TOKENS. Fields of
a request, which the router passes on, for prefill: `standin_status` (refuse with it), `standin_keeps` (no hand-over).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import stat
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from labkit.engines.fake import FakeDials, FakeEngine

HEARTBEAT = (
    Path(sysconfig.get_path("purelib")) / "vllm/distributed/kv_transfer/kv_connector/v1/moriio/moriio_heartbeat.py"
)
PING_INTERVAL_S, MAX_PING_RETRIES = 3, 100
BLOCK_IDS = [[3, 4, 5]]
PROGRAM = """#!{python}
import sys
sys.path[:0] = {paths!r}
import moriio_worker
moriio_worker.main()
"""


def install(folder: Path, path: str) -> str:
    """The PATH on which `vllm` is this stand-in, and the router the real one."""
    program = folder / "vllm"
    folder.mkdir(parents=True)
    here = Path(__file__).parent
    program.write_text(PROGRAM.format(python=sys.executable, paths=[str(here)]))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return os.pathsep.join([str(folder), str(Path(sys.executable).parent), path])


def message(config: dict[str, Any], tp: int) -> dict[str, Any]:
    """The registration of an engine with this --kv-transfer-config on 127.0.0.1."""
    extra = config["kv_connector_extra_config"]
    return {
        "type": "P" if config["kv_role"] == "kv_producer" else "D",
        "http_address": f"127.0.0.1:{extra['http_port']}",
        "zmq_address": f"host:127.0.0.1,handshake:{extra['handshake_port']},notify:{extra['notify_port']}",
        "dp_size": 1,
        "tp_size": tp,
        "transfer_mode": "READ" if extra["read_mode"] else "WRITE",
    }


def handed_over(config: dict[str, Any], tp: int, asked: dict[str, Any]) -> dict[str, Any]:
    """The kv_transfer_params with which prefill answers."""
    extra = config["kv_connector_extra_config"]
    return {
        "do_remote_prefill": True,
        "do_remote_decode": False,
        "remote_block_ids": BLOCK_IDS,
        "remote_engine_id": f"127.0.0.1:{extra['handshake_port']}",
        "remote_host": "127.0.0.1",
        "remote_handshake_port": extra["handshake_port"],
        "remote_notify_port": extra["notify_port"],
        "remote_dp_rank": 0,
        "remote_dp_rank_override": True,
        "remote_dp_size": 1,
        "remote_dp_size_local": 1,
        "tp_size": tp,
        "transfer_id": asked["transfer_id"],
    }


class Worker(FakeEngine):
    """One half. The fake streams for decode; prefill's leg is not a stream."""

    def __init__(self, dials: FakeDials, port: int, config: dict[str, Any], tp: int) -> None:
        super().__init__(dials, port)
        self._config, self._tp = config, tp
        self._seen: list[dict[str, Any]] = []

    def _app(self) -> web.Application:
        app = super()._app()
        app.router.add_get("/test/received", self._received)
        return app

    async def _received(self, _: web.Request) -> web.Response:
        return web.json_response(self._seen)

    async def _complete(self, request: web.Request) -> web.Response:
        if (await request.json()).get("stream") is False and self._producer:
            return await self._prefill(request)
        return await super()._complete(request)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await (self._prefill(request) if self._producer else self._decode(request))

    @property
    def _producer(self) -> bool:
        return bool(self._config["kv_role"] == "kv_producer")

    async def _decode(self, request: web.Request) -> web.StreamResponse:
        await self._note(request)
        return await super()._chat(request)

    async def _prefill(self, request: web.Request) -> web.Response:
        seen = await self._note(request)
        await asyncio.sleep(float(os.environ.get("STANDIN_PREFILL_S", "0")))
        body = seen["body"]
        if status := body.get("standin_status"):
            return web.json_response({"error": {"message": "out of luck", "code": status}}, status=status)
        handed = None if body.get("standin_keeps") else handed_over(self._config, self._tp, body["kv_transfer_params"])
        cached = int(os.environ.get("STANDIN_CACHED_TOKENS", "0"))
        choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "text": "x", "finish_reason": "length"}
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        seen["answered"] = time.monotonic()
        return web.json_response(
            {
                "choices": [choice],
                "usage": {**usage, "prompt_tokens_details": {"cached_tokens": cached}},
                "kv_transfer_params": handed,
            }
        )

    async def _note(self, request: web.Request) -> dict[str, Any]:
        seen = {"path": request.path, "headers": dict(request.headers), "body": await request.json()}
        self._seen.append({**seen, "arrived": time.monotonic()})
        return self._seen[-1]


class Heartbeat:
    """vLLM's heartbeat program as a child."""

    def __init__(self, endpoint: str, payload: dict[str, Any]) -> None:
        argv = [sys.executable, str(HEARTBEAT), endpoint, str(PING_INTERVAL_S), str(MAX_PING_RETRIES)]
        self._child = subprocess.Popen(argv, stdin=subprocess.PIPE, text=True)
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(payload) + "\n")
        self._child.stdin.flush()


async def _serve(worker: Worker, endpoint: str, payload: dict[str, Any]) -> None:
    async with worker:
        await asyncio.sleep(float(os.environ.get("STANDIN_REGISTER_AFTER_S", "0")))
        heartbeat = Heartbeat(endpoint, payload)
        await asyncio.Event().wait()
        del heartbeat


def main() -> None:
    """`vllm serve MODEL --served-model-name NAME --port PORT --kv-transfer-config JSON ...`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--served-model-name")
    parser.add_argument("--port", type=int)
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--kv-transfer-config", type=json.loads)
    given, _ = parser.parse_known_args()
    config, tp = given.kv_transfer_config, given.tensor_parallel_size
    extra = config["kv_connector_extra_config"]
    dials = FakeDials(model=given.served_model_name, ttft_s=0.002, prefill_s_per_token=0.0001, itl_s=0.004)
    endpoint = f"tcp://{extra['proxy_ip']}:{extra['proxy_ping_port']}"
    asyncio.run(_serve(Worker(dials, given.port, config, tp), endpoint, message(config, tp)))
