"""The split under Ray: its backends of NIXL and MoRI-IO choose addresses and count ports up from a base."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PORTS = {"handshake_port": "MORI_HANDSHAKE_PORT_BASE", "notify_port": "MORI_NOTIFY_PORT_BASE"}
_OF_A_ROUTER = ("proxy_ip", "proxy_ping_port", "http_port")
_SIDE_CHANNEL = "VLLM_NIXL_SIDE_CHANNEL_PORT"


def connector(config: Mapping[str, Any]) -> dict[str, Any]:
    """The KV transfer config without what Ray sets itself.

    MoRI-IO announces itself to `proxy_ip`; Ray has no such router, and leaves that empty where nobody sets it.
    """
    extra = config.get("kv_connector_extra_config")
    if extra is None:
        return dict(config)
    kept = {name: value for name, value in extra.items() if name not in (*_PORTS, *_OF_A_ROUTER)}
    return {**config, "kv_connector_extra_config": kept}


def port_bases(config: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, int]:
    """The plan's ports, as what Ray's backends count up from."""
    extra = config.get("kv_connector_extra_config", {})
    bases = {base: int(extra[name]) for name, base in _PORTS.items() if name in extra}
    return {**bases, **({"NIXL_SIDE_CHANNEL_PORT_BASE": int(env[_SIDE_CHANNEL])} if _SIDE_CHANNEL in env else {})}
