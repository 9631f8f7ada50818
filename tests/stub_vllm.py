"""A Python in which a small stand-in for vLLM is installed, and nothing else: what each question comes to is known.

It has one flag, one module with a name in it, a connector that reads `transfer_timeout` and warns of `old_key`, and a
config check that can be told to fail. Each import of it leaves a line in `imports.txt`.
"""

from __future__ import annotations

import sys
from pathlib import Path

FILES = {
    "vllm/__init__.py": """
        import pathlib
        __version__ = "9.9"
        with (pathlib.Path(__file__).parents[1] / "imports.txt").open("a") as file:
            file.write("imported\\n")
    """,
    "vllm/connections.py": "global_http_connection = 1",
    "vllm/config.py": """
        from dataclasses import dataclass, field
        @dataclass
        class KVTransferConfig:
            kv_connector: str
            kv_role: str
            kv_connector_extra_config: dict = field(default_factory=dict)
            engine_id: str = ""
    """,
    "vllm/engine/__init__.py": "",
    "vllm/engine/arg_utils.py": """
        import json, pathlib
        from dataclasses import dataclass
        from types import SimpleNamespace
        BROKEN = pathlib.Path(__file__).parents[2] / "broken"
        @dataclass
        class EngineArgs:
            model: str
            max_num_seqs: int = 8
            kv_transfer_config: object = None
            def create_engine_config(self):
                if BROKEN.exists():
                    raise RuntimeError("no device")
                config = json.loads((pathlib.Path(self.model) / "config.json").read_text())
                if self.max_num_seqs < 1:
                    raise ValueError(f"max_num_seqs of {self.model} must be at least 1")
                return SimpleNamespace(
                    cache_config=SimpleNamespace(cache_dtype="auto", layers=config["layers"]),
                    scheduler_config=SimpleNamespace(max_num_seqs=self.max_num_seqs),
                    kv_transfer_config=self.kv_transfer_config,
                    parallel_config=SimpleNamespace(tensor_parallel_size=2),
                )
        class AsyncEngineArgs(EngineArgs):
            @classmethod
            def from_cli_args(cls, args):
                import os
                from vllm.config import KVTransferConfig
                if "VLLM_STUB_REFUSES" in os.environ:
                    raise ValueError("told to by the plan's environment")
                draft = json.loads(args.speculative_config or "{}").get("model")
                if draft and not pathlib.Path(draft).is_dir():
                    raise OSError(f"{draft} is not a folder")
                transfer = args.kv_transfer_config and KVTransferConfig(**json.loads(args.kv_transfer_config))
                return cls(args.model, args.max_num_seqs or 8, transfer)
    """,
    "vllm/platforms.py": """
        from types import SimpleNamespace
        current_platform = SimpleNamespace(device_type="stub")
    """,
    "vllm/utils/__init__.py": "",
    "vllm/utils/argparse_utils.py": "from argparse import ArgumentParser as FlexibleArgumentParser",
    "vllm/entrypoints/__init__.py": "",
    "vllm/entrypoints/launchers/__init__.py": "",
    "vllm/entrypoints/launchers/cli_args.py": """
        def make_arg_parser(parser):
            parser.add_argument("model_tag", nargs="?")
            parser.add_argument("--model")
            parser.add_argument("--max-num-seqs", type=int)
            parser.add_argument("--config")
            parser.add_argument("--speculative-config")
            parser.add_argument("--kv-transfer-config")
            parser.add_argument("--tool-parser")
            parser.add_argument("--tools", action="store_true")
            return parser
        def validate_parsed_serve_args(args):
            if args.tools and not args.tool_parser:
                raise TypeError("--tools needs --tool-parser")
    """,
    "vllm/distributed/kv_transfer/kv_connector/v1/moriio/moriio_common.py": """
        import logging, random
        from dataclasses import dataclass
        @dataclass
        class MoRIIOConfig:
            transfer_timeout: float
            local_kv_port: int
            rank: int
            @classmethod
            def from_vllm_config(cls, config):
                extra = config.kv_transfer_config.kv_connector_extra_config
                if "old_key" in extra:
                    logging.getLogger("vllm.moriio").warning("old_key is ignored")
                rank = get_tensor_model_parallel_rank() + get_tensor_model_parallel_world_size()
                int(extra["http_port"])
                return cls(float(extra.get("transfer_timeout", 30)), random.randrange(10**9), rank)
    """,
}
MODELS = {"some/model": {"layers": 3}}


def install(folder: Path) -> str:
    """The interpreter. A file `broken` in `folder` makes the config check fail."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.splitlines()
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        path.write_text("\n".join(line[indent:] for line in lines))
    return without(folder, f"PYTHONPATH={folder} ")


def without(folder: Path, env: str = "") -> str:
    """A Python without installed packages."""
    return script(folder, f'{env}exec {sys.executable} -S "$@"')


def script(folder: Path, body: str) -> str:
    """A program of the shell that is taken for a Python."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return str(program)


def imports(folder: Path) -> int:
    """How many processes have imported it."""
    path = folder / "imports.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0
