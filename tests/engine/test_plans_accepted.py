"""vLLM itself accepts every plan of every profile: its parser, its config classes, and the router's parser.

This is what is known about the MI300X profile without the hardware; nothing is loaded and no device is touched.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine.model_configs import write_configs

from labkit.core.arms import ARMS
from labkit.engines.environment import engine_environment
from labkit.engines.plan import make_plan
from labkit.engines.profiles import list_profiles, load_profile

pytestmark = pytest.mark.engine

Verdicts = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """What vLLM says about each process of each plan; one process asks for all, since its import takes seconds."""
    folders = write_configs(tmp_path_factory.mktemp("models"))
    script = Path(__file__).with_name("vllm_accepts.py")
    env = engine_environment(os.environ, {"HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR"})
    asked = json.dumps({"models": folders, "plans": _plans()})
    done = subprocess.run([sys.executable, str(script)], input=asked, env=env, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def _plans() -> list[dict[str, object]]:
    """Eight arms with the default drafter, and the two arms in which another drafter can be refused."""
    plans = []
    for name in list_profiles():
        profile = load_profile(name)
        speculation = profile.layers.speculation
        for method in speculation.methods:
            for arm in ARMS:
                if method == speculation.default or (arm.speculation and arm.prefix_caching):
                    model = None if profile.model.path else "SMOLLM2"
                    plan = make_plan(profile, arm, spec_method=method, model_path=model)
                    processes = [{"role": p.role, "argv": p.argv, "env": p.env} for p in plan.processes]
                    plans.append({"name": f"{name}/{method}/{arm}", "processes": processes})
    return plans


def test_the_parsers_accept_every_command_line(verdicts: Verdicts) -> None:
    assert len(verdicts) > 60
    assert {name: verdict for name, verdict in verdicts.items() if verdict["parser"] != "ok"} == {}


def test_the_server_accepts_its_options_together(verdicts: Verdicts) -> None:
    engines = {name: verdict for name, verdict in verdicts.items() if "frontend" in verdict}
    assert {name: verdict for name, verdict in engines.items() if verdict["frontend"] != "ok"} == {}


def test_the_config_classes_accept_every_engine(verdicts: Verdicts) -> None:
    refused = {name: verdict["config"] for name, verdict in verdicts.items() if verdict.get("config", "ok") != "ok"}
    unexpected = {name: why for name, why in refused.items() if not _needs_arctic(name, why)}
    assert unexpected == {}


def _needs_arctic(name: str, why: str) -> bool:
    """Suffix decoding is refused, in these words, where the optional package is not installed."""
    return "/suffix/" in name and "pip install arctic-inference" in why


def test_a_misspelt_flag_would_be_seen() -> None:
    """The check can fail: the same script refuses what vLLM does not know."""
    argv = ["python", "-m", "vllm.entrypoints.openai.api_server", "--block-sise", "32"]
    router = ["vllm-router", "--log-level", "warn"]
    processes = [{"role": "engine", "argv": argv, "env": {}}, {"role": "router", "argv": router, "env": {}}]
    asked = json.dumps({"models": {}, "plans": [{"name": "bad", "processes": processes}]})
    script = Path(__file__).with_name("vllm_accepts.py")
    done = subprocess.run([sys.executable, str(script)], input=asked, text=True, capture_output=True)
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers["bad/engine"]["parser"] != "ok"
    assert answers["bad/router"]["parser"] != "ok"
