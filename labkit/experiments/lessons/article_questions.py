"""How a line becomes a question to the engine: Python, keywords of `LLM`, flags, a config file, a connector's key."""

from __future__ import annotations

import json
from typing import Any

from labkit.engines.accepts import Question
from labkit.experiments.lessons.article_models import TARGET

_LENGTH = 16384
CONNECTOR: dict[str, Any] = {
    "kv_connector": "MoRIIOConnector",
    "kv_role": "kv_producer",
    "kv_connector_extra_config": {
        "proxy_ip": "127.0.0.1",
        "proxy_ping_port": "36367",
        "http_port": "20005",
        "handshake_port": "6301",
        "notify_port": "6105",
        "backend": "xgmi",
    },
}
"""A whole MoRI-IO connector of today: the ports are required by it."""


def python(name: str, code: str, *read: str) -> Question:
    """Lines that the engine's interpreter runs; `read`: expressions over what they leave."""
    return Question(id=name, kind="python", text=code, given={"code": code, "read": list(read)})


def llm(name: str, *read: str, **arguments: Any) -> Question:
    """`LLM(...)`, whose keywords are those of EngineArgs; `read`: dotted names of the config that comes of it."""
    said = ", ".join(["MODEL", *(f"{key}={json.dumps(value)}" for key, value in arguments.items())])
    given = {"arguments": {"model": TARGET, "max_model_len": _LENGTH, **arguments}, "read": list(read)}
    return Question(id=name, kind="arguments", text=f"LLM({said})", given=given)


def serve(name: str, flags: str, *read: str) -> Question:
    """`vllm serve` with flags, separated by spaces; `read`: what the parser made of them."""
    given = {"argv": ["serve", TARGET, *flags.split()], "read": list(read)}
    return Question(id=name, kind="flags", text=f"vllm serve MODEL {flags}", given=given)


def config_file(name: str, text: str, *read: str) -> Question:
    """A YAML file for `vllm serve MODEL --config`."""
    argv = ["serve", TARGET, "--config", "config.yaml"]
    given = {"argv": argv, "files": {"config.yaml": text}, "read": list(read)}
    return Question(id=name, kind="flags", text=text.strip(), given=given)


def router(name: str, flags: str, *read: str) -> Question:
    """`vllm-router` with flags."""
    given = {"argv": flags.split(), "read": list(read)}
    return Question(id=name, kind="router", text=f"vllm-router {flags}", given=given)


def key(name: str, **keys: Any) -> Question:
    """Keys of the connector's `kv_connector_extra_config`, beside those that it requires."""
    inner = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in keys.items())
    arguments = {"model": TARGET, "max_model_len": _LENGTH, "kv_transfer_config": CONNECTOR}
    given = {"arguments": arguments, "keys": keys}
    return Question(id=name, kind="keys", text=f'"kv_connector_extra_config": {{{inner}}}', given=given)
