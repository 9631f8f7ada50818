"""The drivers' libraries as small C files, so that their real Python packages run without a GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent / "stubs"
_ASK = """
import asyncio, contextlib, io, json, sys
from labkit.telemetry.{module} import {make}
from labkit.telemetry.devices import Unreadable

async def rounds():
    return [await source.read() for _ in range({reads})]

printed = io.StringIO()
try:
    with contextlib.redirect_stdout(printed):
        source = {make}()
    reads = asyncio.run(rounds())
    told = {{"name": source.name, "devices": source.devices, "reads": [[vars(r) for r in read] for read in reads]}}
    told["facts"] = [vars(gpu.facts) for gpu in source.gpus]
    told["missing"] = [dict(gpu.unread) for gpu in source.gpus]
    told["failed"] = source.failed
    told["without_energy"] = source.unread
    source.close()
except Unreadable as error:
    told = {{"unread": str(error)}}
print(json.dumps({{**told, "printed": printed.getvalue()}}))
"""


def compiled(source: str, out: Path, extra: str = "", before: str = "") -> Path:
    """A shared library of a stub and of more C code."""
    out.parent.mkdir(parents=True, exist_ok=True)
    code = out.with_suffix(".c")
    code.write_text(before + (_HERE / source).read_text() + extra)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(out), str(code)], check=True)
    return out


def everything_else(wrapper: Path, stub: str) -> str:
    """C functions that answer "not supported", for all that amdsmi's wrapper looks up when it is imported."""
    wanted = set(re.findall(r"_libraries\['libamd_smi\.so'\]\.(\w+)", wrapper.read_text()))
    written = set(re.findall(r"^uint32_t (amdsmi_\w+)\(", (_HERE / stub).read_text(), re.MULTILINE))
    return "".join(f"\nuint32_t {name}(void) {{ return 2; }}" for name in sorted(wanted - written))


def rocm_folder(folder: Path, without: str = "") -> Path:
    """A ROCm folder whose amdsmi library is the stub. `without`: a function that it lacks, as an older library does."""
    spec = importlib.util.find_spec("amdsmi")
    assert spec is not None, "make setup installs amdsmi"
    assert spec.origin is not None
    rest = everything_else(Path(spec.origin).parent / "amdsmi_wrapper.py", "amd_smi.c")
    renamed = f"#define {without} older_{without}\n" if without else ""
    compiled("amd_smi.c", folder / "lib" / "libamd_smi.so", rest, before=renamed)
    return folder


def nvml_folder(folder: Path) -> Path:
    """A folder with NVIDIA's library as the stub."""
    assert importlib.util.find_spec("pynvml"), "make setup installs nvidia-ml-py"
    return compiled("nvml.c", folder / "libnvidia-ml.so.1").parent


def amd_environment(rocm: Path, gpu: str) -> dict[str, str]:
    return {"ROCM_PATH": str(rocm), "ROCM_HOME": str(rocm), "STUB_GPU": gpu}


def ask(module: str, make: str, reads: int = 3, **environment: str) -> dict[str, Any]:
    """What a source tells in a process of its own: a driver's library stays loaded in the one that loaded it."""
    told: dict[str, Any] = json.loads(in_a_process(_ASK.format(module=module, make=make, reads=reads), **environment))
    return told


def in_a_process(code: str, **environment: str) -> str:
    """The last line that Python code prints in a process of its own."""
    everything = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], env=everything, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]
