"""What Ray Serve LLM (read: 2.60) cannot express of a plan, and the nearest thing that it can route by."""

from __future__ import annotations

from labkit.core.errors import LabError
from labkit.engines.profiles import Profile

ROUTERS = {
    "consistent_hash": "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter",
    "round_robin": "ray.serve.experimental.round_robin_router.RoundRobinRouter",
}
"""Ray's class for a policy of vllm-router. Its consistent hash is of the header x-session-id, as the router's is."""
_INSTEAD = "Take --as docker, --as compose or --as k8s."


def require_sayable(profile: Profile, *, split: bool) -> None:
    """Raises LabError for another engine than vLLM, a transfer that Ray does not set up, a policy that it has not."""
    if profile.engine.command == "sglang":
        raise LabError("Ray Serve's builders of these applications start vLLM, not SGLang", _INSTEAD)
    transfer, policy = profile.layers.pd_split.transfer, profile.layers.pd_split.router_policy
    if split and transfer not in ("nixl", "moriio"):
        raise LabError(f"Ray Serve sets up NIXL and MoRI-IO between prefill and decode, not {transfer}", _INSTEAD)
    if not split and profile.engine.replicas > 1 and policy not in ROUTERS:
        raise LabError(f"Ray Serve has no counterpart of the router's policy {policy}", _INSTEAD)
