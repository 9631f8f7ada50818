"""Run in a process of its own: does vLLM accept these command lines? Its parser, then every config class they reach.

Reads `{"models": {hub id: folder}, "plans": [{"name", "processes": [{"role", "argv", "env"}]}]}` from stdin and prints
`{name/role: {"parser": ..., "config": ...}}` as its last line, each `ok` or the refusal. vLLM's import takes seconds,
so all plans go through one process; router command lines go through the router's own parser.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from typing import Any


def main() -> None:
    asked = json.loads(sys.stdin.read())
    verdicts = {}
    for plan in asked["plans"]:
        for process in plan["processes"]:
            argv = [_local(argument, asked["models"]) for argument in process["argv"]]
            check = _check_router if process["role"] == "router" else _check_engine
            verdicts[f"{plan['name']}/{process['role']}"] = check(argv, process["env"])
    print(json.dumps(verdicts))


def _local(argument: str, models: dict[str, str]) -> str:
    """Model ids stand for folders with the model's config: nothing is fetched here."""
    for name, folder in models.items():
        argument = argument.replace(name, folder)
    return argument


def _check_router(argv: list[str], _: dict[str, str]) -> dict[str, str]:
    from vllm_router.launch_router import parse_router_args

    start = next(index for index, word in enumerate(argv) if word.endswith(("launch_router", "vllm-router"))) + 1
    return {"parser": _verdict(lambda: parse_router_args(argv[start:]))}


@functools.cache
def _engine_parser() -> Any:
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    return make_arg_parser(FlexibleArgumentParser())


def _check_engine(argv: list[str], env: dict[str, str]) -> dict[str, str]:
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.entrypoints.launchers.cli_args import validate_parsed_serve_args

    parser = _engine_parser()
    words = argv[2:] if argv[:2] == ["vllm", "serve"] else argv[3:]
    parsed: list[Any] = []
    verdict = {"parser": _verdict(lambda: parsed.append(parser.parse_args(words)))}
    if parsed:
        verdict["frontend"] = _verdict(lambda: validate_parsed_serve_args(parsed[0]))
        args = parsed[0]
        if args.model_tag:
            args.model = args.model_tag
        verdict["config"] = _verdict(lambda: _configure(AsyncEngineArgs.from_cli_args(args), env))
    return verdict


def _configure(engine_args: Any, env: dict[str, str]) -> None:
    """The whole VllmConfig: model, cache, parallel, scheduler, attention, speculative and KV transfer."""
    kept = dict(os.environ)
    os.environ.update({name: value for name, value in env.items() if not name.endswith("VISIBLE_DEVICES")})
    try:
        config = engine_args.create_engine_config()
        if config.kv_transfer_config and config.kv_transfer_config.kv_connector == "MoRIIOConnector":
            _configure_moriio(config)
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _configure_moriio(config: Any) -> None:
    """The connector's own reading of its settings, as rank 0 of its group: no process group exists outside a worker."""
    from vllm.distributed.kv_transfer.kv_connector.v1.moriio import moriio_common

    moriio_common.get_tensor_model_parallel_rank = lambda: 0
    moriio_common.get_tensor_model_parallel_world_size = lambda: config.parallel_config.tensor_parallel_size
    moriio_common.MoRIIOConfig.from_vllm_config(config)


def _verdict(attempt: Any) -> str:
    try:
        attempt()
    except SystemExit:
        return "refused by the parser; its message stands above"
    except Exception as error:  # noqa: BLE001 - the refusal is the result
        return f"{type(error).__name__}: {error}"
    return "ok"


if __name__ == "__main__":
    main()
