"""What a MoRI-IO engine that ended wrote last, and what is made of it; and the last answer before a deadline."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.engines.plans import plan_of, tiny

from labkit.core.errors import EngineNotReady
from labkit.engines.causes import likely_cause
from labkit.engines.fleet import Fleet


@pytest.mark.parametrize(
    ("line", "what", "hint"),
    [
        (
            "RuntimeError: MoRIIO is not available. Please ensure the 'mori' package is installed and properly...",
            "the module mori, which is not installed",
            "amd_mori",
        ),
        ("what():  no active RDMA device on this host; set MORI_", "no active RDMA network card", 'backend = "xgmi"'),
        (
            "RuntimeError: MoRIIO discovery heartbeat exited with code -9",
            "its heartbeat to the router ended with status -9",
            "start it again",
        ),
        (
            "ValueError: Invalid MoRIIO backend 'tcp' in kv_connector_extra_config; must be one of 'rdma' or 'xgmi'.",
            "it refused its configuration: ValueError: Invalid MoRIIO backend 'tcp'",
            "labkit plan",
        ),
    ],
)
def test_a_cause_is_named(line: str, what: str, hint: str) -> None:
    # vLLM writes the first line on import wherever mori is missing, also when nothing needs it
    cause = likely_cause(["ERROR MoRIIO is not available", line], 1)
    assert cause is not None
    assert what in cause.what
    assert hint in cause.hint
    assert cause.line == 1


async def test_a_start_that_never_gets_a_token_says_what_the_last_answer_was(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "state")
    with pytest.raises(EngineNotReady, match="engine did not become ready in time: the last answer was HTTP 503"):
        await fleet.up(plan_of(tiny("engine", "--answer", "503"), max_startup_s=1.0))
    assert fleet.ps() == []
