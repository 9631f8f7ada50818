"""The vLLM CPU plugin's own arithmetic: cores, environment, and switches that do nothing unless set."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from labkit_vllm_cpu import plugin, preload, switches

CORES = sorted(os.sched_getaffinity(0))
FORKS = """
import os
from labkit_vllm_cpu import binding
os.sched_setaffinity(0, {{{first}}})
binding.release()
assert sorted(os.sched_getaffinity(0)) == {cores}, "API server"
os.register_at_fork(after_in_child=binding.after_fork_in_child)
for who, expected in (("EngineCore", {cores}), ("Worker", [{first}])):
    pid = os.fork()
    if pid:
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    assert sorted(os.sched_getaffinity(0)) == expected, who
"""


def test_nothing_is_switched_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("LABKIT_VLLM_CPU_")]:
        monkeypatch.delenv(name)
    assert not switches.keep_affinity()
    assert (switches.nixl_delay_us(), switches.spin_s(), switches.bound_cores()) == (None, None, [])
    assert "GOMP_CPU_AFFINITY" not in preload.preloaded_environment()


def test_the_order_of_the_cores_reaches_libgomp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_VLLM_CPU_BIND", "1,0")
    environment = preload.preloaded_environment()
    assert (environment["GOMP_CPU_AFFINITY"], environment["OMP_NUM_THREADS"]) == ("1 0", "2")
    assert environment["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"
    assert environment[switches.ALLOWED] == ",".join(map(str, CORES))
    assert all(os.path.exists(path) for path in environment["LD_PRELOAD"].split(":"))  # noqa: PTH110
    assert "libgomp" in environment["LD_PRELOAD"]


def test_each_process_gets_its_cores_after_the_forks() -> None:
    """API server and EngineCore may use all cores, the Worker stands on its first one."""
    bound = {"LABKIT_VLLM_CPU_BIND": f"{CORES[-1]},{CORES[0]}", switches.ALLOWED: ",".join(map(str, CORES))}
    code = FORKS.format(first=CORES[-1], cores=CORES)
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **bound}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nixl_is_told_the_cores_that_we_have() -> None:
    class Platform:
        pass

    plugin._keep_affinity(Platform)
    assert Platform.discover_numa_topology() == [[core] for core in CORES]
