"""What an engine prints and how it would be started is shown without the secrets in it."""

from __future__ import annotations

from pathlib import Path

from unit.engines.plans import plan_of, tiny

from labkit.core.masking import MASK
from labkit.engines.logs import tail
from labkit.engines.plan_diff import diff
from labkit.engines.plan_text import command_text, plan_text
from labkit.experiments.dashboard.engines.logs import log_view

ENV = {"HF_TOKEN": "hunter2", "OMP_NUM_THREADS": "2", "PROXY": "http://me:hunter2@host"}


def test_a_command_keeps_the_names_of_its_secrets_alone():
    plan = plan_of(tiny("engine", "--api-key", "hunter2", "--block-size", "32", env=ENV))
    shown = command_text(plan.processes[0])
    assert "hunter2" not in shown + plan_text(plan)
    assert f"HF_TOKEN='{MASK}'" in shown
    assert f"--api-key '{MASK}'" in shown
    assert "OMP_NUM_THREADS=2" in shown
    assert "--block-size 32" in shown


def test_a_secret_that_differs_is_named_and_not_told():
    one, other = plan_of(tiny("engine", env=ENV)), plan_of(tiny("engine", env={**ENV, "HF_TOKEN": "hunter3"}))
    assert [tuple(found) for found in diff(one, other)] == [("engine", "HF_TOKEN", MASK, MASK)]
    assert next(found.right for found in diff(one, plan_of(tiny("engine", env={})))) is None


def test_what_is_shown_of_a_log_has_no_secret(tmp_path: Path):
    log = tmp_path / "engine.log"
    long = "x" * 590 + " --api-key hunter2"
    log.write_text(f"INFO args: {{'api_key': ['hunter2'], 'port': 1}}\n{long}\nERROR HTTP 401 for Bearer hunter2\n")
    shown = log_view(str(log)).lines
    assert "hunter" not in "".join(shown)
    assert shown[0] == f"INFO args: {{'api_key': ['{MASK}'], 'port': 1}}"
    assert log_view(str(log), levels=("error",)).lines == (f"ERROR HTTP 401 for Bearer {MASK}",)
    assert tail(log, 2)[-1] == f"ERROR HTTP 401 for Bearer {MASK}"
    assert "hunter" not in "".join(tail(log, 9))
