"""The router of each engine as a Python package, in the version whose parser and whose requests the tests have seen."""

from __future__ import annotations

from typing import NamedTuple

from labkit.engines.profiles import Profile


class RouterPackage(NamedTuple):
    """`name`: the distribution; `version`: the one that the profiles were made for."""

    name: str
    version: str

    @property
    def requirement(self) -> str:
        """As pip takes it."""
        return f"{self.name}=={self.version}"


_VLLM, _SGLANG = RouterPackage("vllm-router", "0.1.17"), RouterPackage("smg", "1.13.0")


def router_package(profile: Profile) -> RouterPackage:
    """What the profile's plans put in front of replicas, and of prefill and decode."""
    return _SGLANG if profile.engine.command == "sglang" else _VLLM
