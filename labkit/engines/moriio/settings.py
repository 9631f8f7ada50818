"""The connector's settings in a profile: each known, of the right kind, and in seconds where it is a time.

vLLM 0.32 reads what it knows (`moriio_common.py`, `MoRIIOConfig.from_vllm_config`) and silently passes over the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.errors import BadInput

FIELD = "layers.pd_split.connector.kv_connector_extra_config"
KNOWN = (
    *("proxy_ip", "proxy_ping_port", "http_port", "handshake_port", "notify_port", "host_ip"),
    *("read_mode", "backend", "transfer_timeout", "defer_timeout", "recv_abort_timeout"),
    *("qp_per_transfer", "post_batch_size", "num_workers"),
)
"""Every key that vLLM 0.32 reads."""
REQUIRED = ("proxy_ip", "proxy_ping_port", "http_port")
"""Without these an engine does not start, or never announces itself."""
BACKENDS = ("rdma", "xgmi")
TIMEOUTS = {"transfer_timeout": 30, "defer_timeout": 60, "recv_abort_timeout": 120}
"""The waits and vLLM's defaults for them, seconds."""
LONGEST_S = 3600
"""vLLM's own longest wait for a transfer: what is more was meant as milliseconds."""
_OUTLASTS = {
    "defer_timeout": "Prefill frees the blocks of a request after it",
    "recv_abort_timeout": "Decode gives a transfer up after it",
}
"""Waits that must not end while a transfer may still run; vLLM does not compare them."""


def check_settings(extra: Mapping[str, Any]) -> None:
    """Raises BadInput, naming the setting, for the first that vLLM would ignore, refuse or take for something else."""
    for name, value in extra.items():
        if name not in KNOWN:
            hint = "vLLM 0.32 ignores a key that it does not know, so it would set nothing."
            raise BadInput(f"{FIELD}.{name}", value, ", ".join(KNOWN), hint)
    for name in REQUIRED:
        if not extra.get(name):
            hint = "The engine finds the router, and the router the engine, by it."
            raise BadInput(f"{FIELD}.{name}", extra.get(name), "a value", hint)
    _check_choices(extra)
    for name in TIMEOUTS:
        _check_seconds(name, extra.get(name, TIMEOUTS[name]))
    _check_order(extra)


def _check_choices(extra: Mapping[str, Any]) -> None:
    mode, backend = extra.get("read_mode", False), extra.get("backend", "rdma")
    if not isinstance(mode, bool):
        hint = "true is READ, false is WRITE; vLLM takes a word that it does not know for WRITE."
        raise BadInput(f"{FIELD}.read_mode", mode, "true or false", hint)
    if backend not in BACKENDS:
        hint = "xgmi stays within a node; rdma, the default, wants a network card."
        raise BadInput(f"{FIELD}.backend", backend, " or ".join(BACKENDS), hint)


def _check_seconds(name: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and 0 < value <= LONGEST_S:
        return
    meant = f" {value:g} of them are {value / 3600:.1f} hours." if number and LONGEST_S < value < float("inf") else ""
    hint = f"These are seconds, not milliseconds.{meant} vLLM's default is {TIMEOUTS[name]:g}."
    raise BadInput(f"{FIELD}.{name}", value, f"seconds, more than 0 and at most {LONGEST_S}", hint)


def _check_order(extra: Mapping[str, Any]) -> None:
    transfer = extra.get("transfer_timeout", TIMEOUTS["transfer_timeout"])
    for name, what in _OUTLASTS.items():
        if (value := extra.get(name, TIMEOUTS[name])) < transfer:
            hint = f"{what}, and a transfer may run until transfer_timeout is over."
            raise BadInput(f"{FIELD}.{name}", value, f"{transfer:g} seconds (transfer_timeout) or more", hint)
