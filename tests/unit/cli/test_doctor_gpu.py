"""`labkit doctor` as a process on machines that are not here: another /sys, another PATH, and what it ends with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rocm_python import distribution, interpreter, program
from unit.doctor import trees

from labkit.doctor.records import Check, Report
from labkit.engines.profiles import list_profiles

PROFILE = "mi300x-8-qwen3-235b"
RUN = """
import sys
from pathlib import Path
from labkit.doctor.node import reading
from labkit.doctor.node.roots import Roots
root = Path(sys.argv.pop(1))
sys.modules["pynvml"] = None
reading.HERE = Roots(sys=root / "sys", proc=root / "proc", dev=root / "dev", rocm=root / "rocm")
from labkit.cli import main
main()
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    trees.node_of_eight(tmp_path)
    return tmp_path


def installed(machine: Path, vllm: str, torch: str, **files: str) -> str:
    """A vLLM of this build is on PATH, with a router beside it; its interpreter."""
    python, site = interpreter(machine / "venv")
    distribution(site, "vllm", vllm, files={"vllm/__init__.py": "raise RuntimeError('imported')", **files})
    distribution(site, "torch", torch, files={"torch/__init__.py": "raise RuntimeError('imported')"})
    distribution(site, "vllm-router", "0.1.17")
    for name in ("vllm", "vllm-router"):
        program(machine / "bin", name, python)
    return python


def doctor(machine: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {name: str(machine / name.lower()) for name in ("LABKIT_RUNS", "LABKIT_STATE", "LABKIT_MODELS", "HF_HOME")}
    kept = {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ}
    env = {**kept, **own, "PATH": str(machine / "bin"), "HF_ENDPOINT": "http://127.0.0.1:9", "COLUMNS": "100"}
    argv = [sys.executable, "-c", RUN, str(machine), "doctor", "--profile", PROFILE, *words]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)


def report(done: subprocess.CompletedProcess[str]) -> Report:
    assert done.returncode in (0, 3), done.stderr
    return Report.from_dict(json.loads(done.stdout))


def named(found: Report, name: str) -> Check:
    return next(check for check in found.checks if check.name == name)


def test_a_cuda_wheel_on_an_amd_node_is_found_before_anything_is_started(machine: Path) -> None:
    python = installed(machine, "0.32.0", "2.13.0")
    found = report(doctor(machine, "--json"))
    assert named(found, "GPUs").status == named(found, "GPU driver").status == "ok"
    build = named(found, "Engine build")
    assert (build.status, build.found) == ("fail", f"vllm 0.32.0 is a CUDA build (torch 2.13.0), in {python}")
    assert build.command.startswith("docker pull vllm/vllm-openai-rocm")
    (chosen,) = [each for each in found.runnable if each.profile == PROFILE]
    assert chosen.arms == ()
    assert "Engine build: vllm 0.32.0 is a CUDA build" in chosen.sentence


def test_a_rocm_image_without_mori_runs_all_but_the_split(machine: Path) -> None:
    files = {"vllm/_rocm_C.abi3.so": "", "aiter/__init__.py": "", "torch/version.py": "hip = '7.0.51831'\n"}
    installed(machine, "0.32.0+rocm700", "2.13.0+git1c57644", **files)
    found = report(doctor(machine, "--json"))
    for name in ("Engine build", "AITER", "ROCm version", "Partitions", "GPUs in use", "Router"):
        assert (name, named(found, name).status) == (name, "ok")
    mori = named(found, "Transfer library (mori)")
    assert (mori.status, len(mori.stops or ())) == ("fail", 4)
    assert named(found, "NUMA balancing").status == "warn"


def test_it_ends_with_what_can_be_run_in_words_and_soon(machine: Path) -> None:
    installed(machine, "0.32.0", "2.13.0")
    began = time.monotonic()
    done = doctor(machine)
    assert time.monotonic() - began < 30  # seconds of a machine that others keep busy; it takes two on an idle one
    assert done.returncode == 3
    shown = done.stdout[done.stdout.index("what can be run here") :]
    assert all(profile in shown for profile in list_profiles())
    assert "none: Engine build: vllm 0.32.0 is a CUDA build" in " ".join(shown.split())
    assert max(map(len, done.stdout.splitlines())) <= 100
