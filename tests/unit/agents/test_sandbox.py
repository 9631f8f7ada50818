"""What runs in the sandbox is limited in time, memory and output, and cut off from network, files and secrets."""

import time
from pathlib import Path

import psutil
import pytest

from labkit.agents.sandbox import DOORS, SandboxLimits, run_python, run_unittest, tidy


def closed(folder: Path) -> tuple[str, ...]:
    return run_python(folder, ["-c", "pass"]).isolation


def needs(folder: Path, door: str) -> None:
    if door not in closed(folder):
        pytest.skip(f"this kernel does not let labkit close: {door}")


def test_a_test_run_reports_what_fails_without_what_changes_from_run_to_run(folder: Path):
    first, second = run_unittest(folder, "tests"), run_unittest(folder, "tests")
    assert first.code == 1
    assert "AssertionError: -1 != 5" in first.output
    assert 'File "tests/test_core.py", line 8' in first.output
    assert first.output.rstrip().endswith("Ran 1 test\n\nFAILED (failures=1)")
    assert first == second


def test_the_doors_are_known_ones(folder: Path):
    assert set(closed(folder)) <= set(DOORS)


def test_time_is_limited_and_everything_that_was_started_ends(folder: Path):
    code = "import os, time\nif os.fork() == 0: os.setsid()\nopen(f'{os.getpid()}.pid', 'w').close()\ntime.sleep(77.25)"
    started = time.monotonic()
    finished = run_python(folder, ["-c", code], SandboxLimits(wall_s=1.0))
    assert finished.code is None
    assert time.monotonic() - started < 10
    if "pids" in finished.isolation:
        time.sleep(0.2)
        assert not [p for p in psutil.process_iter(["cmdline"]) if any("77.25" in c for c in p.info["cmdline"] or [])]


def test_processor_time_is_limited(folder: Path):
    assert run_python(folder, ["-c", "while True: pass"], SandboxLimits(cpu_s=1, wall_s=20)).code not in (0, None)


def test_memory_is_limited(folder: Path):
    finished = run_python(folder, ["-c", "x = bytearray(800 << 20)"], SandboxLimits(memory_bytes=500 << 20))
    assert "MemoryError" in finished.output


def test_output_is_limited_and_its_end_is_kept(folder: Path):
    code = "print('x' * 200_000); print('the end')"
    finished = run_python(folder, ["-c", code], SandboxLimits(output_bytes=1000))
    assert finished.output.rstrip().endswith("the end")
    assert finished.output.startswith("[first ")
    assert len(finished.output) < 1100


def test_a_flood_of_output_fills_no_disk(folder: Path):
    finished = run_python(folder, ["-c", "while True: print('x' * 1000)"], SandboxLimits(file_bytes=100_000))
    assert finished.code not in (0, None)
    assert len(finished.output) < 100_000


def test_no_variable_of_ours_passes_through(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAB_SECRET", "hunter2")
    assert "hunter2" not in run_python(folder, ["-c", "import os; print(dict(os.environ))"]).output


def test_the_network_is_out_of_reach(folder: Path):
    needs(folder, "net")
    code = "import socket; socket.create_connection(('127.0.0.1', 9), 2)"
    output = run_python(folder, ["-c", code]).output
    assert "PermissionError" in output or "Network is unreachable" in output
    assert "refused" not in output


def test_files_outside_are_out_of_reach(folder: Path):
    needs(folder, "files")
    for code in ("open('../secret.txt').read()", "open('../new.txt', 'w')", "import os; os.listdir('..')"):
        assert "PermissionError" in run_python(folder, ["-c", code]).output, code


def test_no_link_can_be_planted(folder: Path):
    needs(folder, "files")
    for call in ("symlink", "link"):
        run_python(folder, ["-c", f"import os; os.{call}('../secret.txt', 'planted')"])
    assert not (folder / "planted").is_symlink()
    assert not (folder / "planted").exists()


def test_the_workspace_itself_can_be_written(folder: Path):
    assert run_python(folder, ["-c", "open('new.txt', 'w').write('x')"]).code == 0
    assert (folder / "new.txt").read_text() == "x"


def test_other_processes_cannot_be_seen(folder: Path):
    needs(folder, "pids")
    assert int(run_python(folder, ["-c", "import os; print(os.getpid())"]).output) < 10


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Ran 12 tests in 0.034s", "Ran 12 tests"),
        ("<Cache object at 0x7f3a2b1c9d80>", "<Cache object at 0x...>"),
        ('File "/tmp/w/pkg/a.py", line 3', 'File "pkg/a.py", line 3'),
        ("in /tmp/w.", "in .."),
        ("0xff is 255", "0xff is 255"),
    ],
)
def test_tidy(raw: str, clean: str):
    assert tidy(raw, Path("/tmp/w")) == clean
