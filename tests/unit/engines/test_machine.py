"""Ports, memory, logs and causes: what the fleet asks the machine before and after a start."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from unit.engines.plans import plan_of, tiny

from labkit.core.errors import NotEnoughMemory, PortInUse
from labkit.engines.causes import likely_cause
from labkit.engines.health import died
from labkit.engines.logs import tail
from labkit.engines.memory import free_bytes, require_memory
from labkit.engines.ports import free_ports, require_free
from labkit.engines.process import ProcessState
from labkit.engines.registry import Engine
from labkit.engines.start_times import StartTimes
from labkit.engines.starting import this_process

GIB = 1 << 30


def test_free_ports_are_free_and_different() -> None:
    ports = free_ports(f"p{n}" for n in range(20))
    assert len(set(ports.values())) == 20
    for name, port in ports.items():
        require_free(name, port)


def test_a_port_in_use_names_its_holder() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} .router. is in use by .*pid {os.getpid()}"):
            require_free("router", port)


def test_memory_is_checked_for_all_processes_together() -> None:
    plan = plan_of(tiny("prefill", memory_bytes=3 * GIB), tiny("decode", memory_bytes=2 * GIB))
    require_memory(plan, 5 * GIB)
    with pytest.raises(NotEnoughMemory, match=r"^profile tiny needs 5\.0 GiB, 4\.5 GiB are free"):
        require_memory(plan, 5 * GIB - GIB // 2)


@pytest.mark.parametrize(
    ("up", "total", "hint"),
    [
        (True, 8, r"^End engines that are not needed: labkit down ENGINE; up: e\.1\.$"),
        (False, 8, r"^No engine is up that could be ended: end other programs, .* `memory_gib` under \[engine\]\.$"),
        (
            True,
            4,
            r"^This machine has 4\.0 GiB in all: take a larger one or a smaller profile \(labkit plan --profiles",
        ),
    ],
)
def test_what_is_said_to_do_helps(up: bool, total: int, hint: str) -> None:
    plan = plan_of(tiny("engine", memory_bytes=5 * GIB))
    processes = (replace(this_process(), role="engine"),)
    dead = (replace(this_process(), role="engine", created=1.0),)
    engine = Engine(id="e.1", plan=plan, processes=processes if up else dead, owner=this_process(), ready=True)
    with pytest.raises(NotEnoughMemory) as caught:
        require_memory(plan, GIB, [engine], total * GIB)
    assert re.search(hint, caught.value.hint)


def test_a_containers_limit_counts_less_its_page_cache(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) > 0
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 300\nactive_file 100\n")
    assert free_bytes(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes(tmp_path) > 1000


def test_the_tail_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert tail(log, 3) == []
    log.write_text("".join(f"line {n} {'x' * 300}\n\n" for n in range(2000)) + "\x1b[32mlast\x1b[0m\n")
    assert [line.split()[0] for line in tail(log, 3)] == ["line", "line", "last"]
    assert tail(log, 1) == ["last"]


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        ("OSError: [Errno 98] Address already in use", 1, "a port was taken"),
        ("RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: std::bad_alloc", 1, "out of memory"),
        ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate", 1, "out of memory"),
        ("api_server.py: error: unrecognized arguments: --block-sise 32", 2, "unrecognized arguments: --block-sise 32"),
        ("vllm serve: error: argument --dtype: invalid choice: 'bf17'", 2, "argument --dtype: invalid choice"),
        ("ModuleNotFoundError: No module named 'vllm'", 1, "the module vllm is not installed"),
        ("OSError: /m/none does not appear to have a file named config.json", 1, "the model was not found"),
        ("Value error, Invalid repository ID or local directory specified: '/m/none'.", 1, "the model was not found"),
        (
            "ImportError: Arctic Inference is required for suffix decoding. Install via",
            1,
            "Arctic Inference is required",
        ),
        ("ValueError: num_heads must be divisible", 1, "it refused its configuration: ValueError: num_heads"),
        ("everything was fine", -9, "it was killed"),
    ],
)
def test_known_causes_are_named(line: str, code: int, what: str) -> None:
    cause = likely_cause(["INFO starting", line, "INFO bye"], code)
    assert cause is not None
    assert what in cause.what
    assert cause.hint
    assert cause.line == (None if code == -9 else 1)


def test_the_drafter_that_is_built_apart_is_asked_for_first_and_without_the_traceback(tmp_path: Path) -> None:
    words = "ImportError: Arctic Inference is required for suffix decoding. Install via `pip install arctic-inference`."
    log = tmp_path / "log"
    log.write_text("\n".join([*(f"before {n}" for n in range(9)), words, *(f"after {n}" for n in range(9))]))
    error = died(ProcessState(role="engine", pid=1, created=0.0, log=str(log)))
    assert "process ended: install it with `make suffix` first" in error.message
    assert "pip install" not in error.message
    assert error.log_tail == ("before 7", "before 8", words, "after 0", "after 1")


def test_an_unknown_death_has_no_invented_cause() -> None:
    assert likely_cause(["INFO starting", "INFO stopping"], 1) is None


def test_start_times_are_learned(tmp_path: Path) -> None:
    times = StartTimes(tmp_path / "state")
    assert times.expected("k", 30.0) == 30.0
    for seconds in (100.0, 10.0, 11.0, 12.0, 13.0, 14.0):
        times.learn("k", seconds)
    assert StartTimes(tmp_path / "state").expected("k", 30.0) == 12.0
    assert times.expected("other", 5.0) == 5.0
