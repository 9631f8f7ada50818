"""Ports for engines: free, all different, and none that the kernel may give to somebody else meanwhile."""

import socket
from pathlib import Path

import pytest

from labkit.core.clock import SystemClock
from labkit.core.errors import PortInUse
from labkit.engines.health import wait_healthy
from labkit.engines.ports import free_ports, is_free
from labkit.engines.process import end_group, spawn


def test_ports_are_different_free_and_not_the_kernels():
    ports = free_ports(f"p{n}" for n in range(20))
    assert len(set(ports.values())) == 20
    assert all(is_free(port) for port in ports.values())
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(1024 < port < first for port in ports.values())


def test_a_taken_port_is_not_handed_out():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        assert not is_free(listener.getsockname()[1])


async def test_a_process_that_hangs_without_its_port_is_told_at_once(tmp_path: Path):
    log = tmp_path / "prefill.log"
    words = "zmq.error.ZMQError: Address already in use (addr='tcp://127.0.0.1:41115')"
    process = spawn(["sh", "-c", f'echo "{words}"; sleep 60'], {}, log, role="prefill", port=1)
    clock = SystemClock()
    try:
        with pytest.raises(PortInUse, match="prefill") as caught:
            await wait_healthy([process], clock, clock.now() + 30, lambda: None)
    finally:
        end_group(process)
    assert caught.value.log_tail == (words,)
