"""The routers' versions are those that the tests have."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from labkit.engines.profiles import load_profile
from labkit.engines.routers import router_package

PINNED = (Path(__file__).parents[2] / "sglang_requirements.txt").read_text(encoding="utf-8")


def test_they_are_the_ones_that_the_tests_run() -> None:
    vllm = router_package(load_profile("mi300x-8-qwen3-235b"))
    assert vllm.requirement == f"vllm-router=={version('vllm-router')}"
    assert router_package(load_profile("cpu-smollm2")) == vllm
    sglang = router_package(load_profile("mi300x-8-qwen3-235b-sglang"))
    assert f"\n{sglang.requirement} " in PINNED
