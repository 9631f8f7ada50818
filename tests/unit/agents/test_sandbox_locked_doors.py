"""A system without namespaces or Landlock, as many containers are: the run goes on and says what is open."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

_FORBID = """
import ctypes, json, struct, sys
from pathlib import Path

def forbid(*numbers):
    load, equal, give = 0x20, 0x15, 0x06
    program = struct.pack("HBBI", load, 0, 0, 0)
    for n, number in enumerate(numbers):
        program += struct.pack("HBBI", equal, len(numbers) - n, 0, number)
    program += struct.pack("HBBI", give, 0, 0, 0x7FFF0000) + struct.pack("HBBI", give, 0, 0, 0x00050001)
    buffer = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, filters, 0, 0) == 0

from labkit.agents.sandbox import SandboxLimits, run_python, run_unittest
unshare, landlock_create_ruleset = 272, 444
forbid(*(n for n in (unshare, landlock_create_ruleset) if str(n) in sys.argv[2:]))
folder = Path(sys.argv[1])
tests = run_unittest(folder, "tests")
endless = run_python(folder, ["-c", "while True: pass"], SandboxLimits(wall_s=1.0))
print(json.dumps([tests.isolation, tests.code, "AssertionError: -1 != 5" in tests.output, endless.code]))
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="system call numbers of x86_64")
@pytest.mark.parametrize(
    ("forbidden", "still_open"), [(["272", "444"], {"net", "pids", "files"}), (["444"], {"files"})]
)
def test_what_cannot_be_closed_is_missing_from_the_report(folder: Path, forbidden: list[str], still_open: set[str]):
    done = subprocess.run(
        [sys.executable, "-c", _FORBID, str(folder), *forbidden], capture_output=True, text=True, check=True, timeout=60
    )
    isolation, code, reported, endless = json.loads(done.stdout)
    assert still_open.isdisjoint(isolation)
    assert (code, reported, endless) == (1, True, None)
