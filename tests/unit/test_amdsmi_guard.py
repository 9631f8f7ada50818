"""The guard: amdsmi without its driver's library is an ImportError, and Ray loads beside it."""

from __future__ import annotations

import subprocess
import sys

NO_LIBRARY = "import sys; sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ != '_Finder']; "


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)


def test_without_the_guard_it_is_the_key_error_that_the_guard_is_for() -> None:
    done = run(f"{NO_LIBRARY}import amdsmi")
    assert "KeyError: 'libamd_smi.so'" in done.stderr


def test_every_interpreter_of_the_environment_has_it() -> None:
    done = run("import amdsmi")
    assert "ImportError: amdsmi cannot load the driver's library: KeyError: 'libamd_smi.so'" in done.stderr
    assert done.stdout == ""


def test_ray_loads_beside_it_and_not_without_it() -> None:
    assert run("import ray").returncode == 0
    assert "KeyError: 'libamd_smi.so'" in run(f"{NO_LIBRARY}import ray").stderr


def test_other_imports_are_left_alone() -> None:
    code = "import labkit_amdsmi_guard as guard; print(guard._finder.find_spec('json'), 'io' in vars(guard))"
    assert run(code).stdout == "None False\n"
