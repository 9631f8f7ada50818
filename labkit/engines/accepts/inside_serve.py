"""The question `serve` of `inside.py`, which loads this file by its path: nothing of labkit is imported here either.

An engine of a plan goes through whatever vLLM checks before it looks at weights or at a device: the parser of
`vllm serve`, what the server asks of its options together, every config class, and a connector's own settings.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MORIIO = "vllm.distributed.kv_transfer.kv_connector.v1.moriio.moriio_common"
CLI = "vllm.entrypoints.launchers.cli_args"


def ask_serve(room: Any, argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Raises or exits as vLLM does where it refuses; `room.reached` says what let it through."""
    args = parser().parse_args([local(room, word) for word in argv])
    room.reached.append("argument parser")
    importlib.import_module(CLI).validate_parsed_serve_args(args)
    room.reached.append("options of the server")
    args.model = args.model_tag or args.model
    room.must_be_whole()
    with environment(env):
        config = importlib.import_module("vllm.engine.arg_utils").AsyncEngineArgs.from_cli_args(args)
        config = config.create_engine_config()
        room.reached.append("config classes")
        if config.kv_transfer_config and config.kv_transfer_config.kv_connector == "MoRIIOConnector":
            read_moriio(config)
            room.reached.append("MoRI-IO's settings")


@functools.cache
def parser() -> Any:
    """The options of `vllm serve`, which `python -m vllm.entrypoints.openai.api_server` has, too."""
    plain = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
    return importlib.import_module(CLI).make_arg_parser(plain)


def local(room: Any, word: str) -> str:
    """A word of a command line with its models as folders, in JSON, too."""
    if not word.startswith("{"):
        return str(room.local(word))
    return json.dumps(room.local(json.loads(word)))


@contextlib.contextmanager
def environment(env: Mapping[str, str]) -> Iterator[None]:
    """The plan's variables, less those that hide devices: here are other ones than where the plan is for."""
    kept = dict(os.environ)
    os.environ.update({name: value for name, value in env.items() if not name.endswith("VISIBLE_DEVICES")})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def read_moriio(config: Any) -> None:
    """As rank 0 of its group: no process group exists outside a worker."""
    common = importlib.import_module(MORIIO)
    size = config.parallel_config.tensor_parallel_size
    common.get_tensor_model_parallel_rank = lambda: 0  # type: ignore[attr-defined]
    common.get_tensor_model_parallel_world_size = lambda: size  # type: ignore[attr-defined]
    common.MoRIIOConfig.from_vllm_config(config)
