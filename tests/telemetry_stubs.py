"""The drivers' libraries as small C files, so that their real Python packages run without a GPU."""

from __future__ import annotations

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

printed = io.StringIO()
try:
    with contextlib.redirect_stdout(printed):
        source = {make}()
    reads = [asyncio.run(source.read()) for _ in range(3)]
    told = {{"name": source.name, "devices": source.devices, "reads": [[vars(r) for r in read] for read in reads]}}
    source.close()
except Unreadable as error:
    told = {{"unread": str(error)}}
print(json.dumps({{**told, "printed": printed.getvalue()}}))
"""


def compiled(source: str, out: Path, extra: str = "") -> Path:
    """A shared library of a stub and of more C code."""
    out.parent.mkdir(parents=True, exist_ok=True)
    code = out.with_suffix(".c")
    code.write_text((_HERE / source).read_text() + extra)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(out), str(code)], check=True)
    return out


def everything_else(wrapper: Path, stub: str) -> str:
    """C functions that answer "not supported", for all that amdsmi's wrapper looks up when it is imported."""
    wanted = set(re.findall(r"_libraries\['libamd_smi\.so'\]\.(\w+)", wrapper.read_text()))
    written = set(re.findall(r"^uint32_t (\w+)\(", (_HERE / stub).read_text(), re.MULTILINE))
    return "".join(f"\nuint32_t {name}(void) {{ return 2; }}" for name in sorted(wanted - written))


def ask(module: str, make: str, **environment: str) -> dict[str, Any]:
    """What a source tells in a process of its own: a driver's library stays loaded in the one that loaded it."""
    command = [sys.executable, "-c", _ASK.format(module=module, make=make)]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
