"""What a Python has, asked of it: a real interpreter whose site-packages hold what an image would."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rocm_python import distribution, interpreter

from labkit.core.errors import EngineError
from labkit.engines.installed import installation


def test_this_python_is_told_as_it_is() -> None:
    has = installation(sys.executable)
    assert has.python == ".".join(map(str, sys.version_info[:3]))
    assert has.packages["vllm-router"]
    assert {"vllm", "nixl"} <= set(has.modules)
    assert "vllm" not in has.packages  # the CPU build has a name of its own
    assert "_C" in has.kernels


def test_a_rocm_python_tells_its_build_by_files_alone(tmp_path: Path) -> None:
    python, site = interpreter(tmp_path)
    distribution(
        site, "vllm", "0.32.0+rocm700", files={"vllm/__init__.py": "raise RuntimeError", "vllm/_rocm_C.abi3.so": ""}
    )
    torch = "__version__ = '2.13.0'\ncuda: Optional[str] = None\nhip: Optional[str] = '7.0.51831-a3e329ad8'\n"
    distribution(site, "torch", "2.13.0", files={"torch/__init__.py": "raise RuntimeError", "torch/version.py": torch})
    distribution(site, "amd_mori", "1.2.0", files={"mori/__init__.py": "raise RuntimeError"})
    has = installation(python)
    assert has.packages == {"vllm": "0.32.0+rocm700", "torch": "2.13.0", "amd-mori": "1.2.0"}
    assert (dict(has.torch), has.kernels) == ({"hip": "7.0.51831-a3e329ad8"}, ("_rocm_C",))
    assert has.modules == ("mori", "torch", "vllm")


def test_a_stray_pythonpath_is_not_what_an_engine_would_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python, _ = interpreter(tmp_path / "venv")
    distribution(tmp_path / "stray", "vllm", "9.9.9")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "stray"))
    assert not installation(python).packages


def test_what_is_no_python_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "python3"
    with pytest.raises(EngineError, match=r"does not say what it has: .*No such file"):
        installation(str(broken))
    broken.write_text("#!/bin/sh\necho 'cannot open shared object file' >&2\nexit 127\n")
    broken.chmod(0o755)
    with pytest.raises(EngineError, match="cannot open shared object file"):
        installation(str(broken))
    broken.write_text("#!/bin/sh\nexec sleep 5\n")
    with pytest.raises(EngineError, match="timed out"):
        installation(str(broken), limit_s=0.2)
