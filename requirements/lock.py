"""Write the lock: `make lock` (or `.venv/bin/python requirements/lock.py [--upgrade]`).

`cpu.in` + `overrides.txt` -> `cpu.txt` (every package but torch, with hashes) and `uv.txt` (uv alone, installed first).
Pins that are in `cpu.txt` stay unless `--upgrade` is given. torch is resolved with the rest but kept in
`torch-cpu.txt`, because its CPU build comes from another index.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from venv_setup.pipconfig import settings, uv_environment
from venv_setup.steps import TORCH_INDEX

HERE = Path(__file__).resolve().parent


def compile_lock(extra: list[str]) -> None:
    """Run `uv pip compile`; for Python 3.11, whose pins hold for 3.12 and 3.13 too."""
    listing = _output([sys.executable, "-m", "pip", "config", "list"])
    environment = {**os.environ, **uv_environment(listing, os.environ)}
    uv = [sys.executable, "-m", "uv", "pip", "compile", "cpu.in", "--config-file", "uv.toml"]
    target = ["--python-version", "3.11", "--python-platform", "x86_64-unknown-linux-gnu"]
    uv += ["--override", "overrides.txt", *extra]
    shape = ["--generate-hashes", "--no-emit-index-url", "--no-emit-package", "torch", "--no-header", "-o", "cpu.txt"]
    where = _where_torch_is(settings(listing))
    print(f"torch's CPU build is looked for with: {' '.join(where)}")
    subprocess.run([*uv, *target, *shape, *where, "--quiet"], cwd=HERE, env=environment, check=True)


def _where_torch_is(pip: dict[str, str]) -> list[str]:
    """The folders or pages of pip's `find-links` when set, else the page of PyTorch's CPU index that lists torch alone.

    A page, not an index: an index has old copies of other packages, which would hide the newer ones.
    """
    links = pip.get("find-links", "").split() or [f"{TORCH_INDEX}/torch/"]
    return [word for link in links for word in ("--find-links", link)]


def _output(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def block(lock: str, package: str) -> str:
    """The lines of one package in a lock, its hashes included and its comments left out."""
    blocks = re.split(r"(?m)^(?=[a-zA-Z0-9])", lock)
    found = next(b for b in blocks if b.startswith(f"{package}=="))
    return "".join(line for line in found.splitlines(keepends=True) if not line.lstrip().startswith("#"))


def stale_torch(asked_for: str, torch: str) -> str:
    """What is wrong between the torch asked for and the one in `torch-cpu.txt`; empty when they agree."""
    asked, pinned = (re.search(r"(?m)^torch==(\S+)", text) for text in (asked_for, torch))
    if asked and pinned and asked[1] == pinned[1]:
        return ""
    return (
        f"cpu.in asks for torch=={asked and asked[1]}, torch-cpu.txt has torch=={pinned and pinned[1]}.\n"
        "Put the new version and the sha256 of its manylinux x86-64 wheels (cp311, cp312, cp313) into torch-cpu.txt; "
        f"{TORCH_INDEX}/torch/ lists them."
    )


def main() -> int:
    compile_lock(sys.argv[1:])
    lock, asked_for, torch = (
        (HERE / name).read_text(encoding="utf-8") for name in ("cpu.txt", "cpu.in", "torch-cpu.txt")
    )
    (HERE / "uv.txt").write_text(block(lock, "uv"), encoding="utf-8")
    problem = stale_torch(asked_for, torch)
    print(problem or f"{len(re.findall(r'(?m)^[a-zA-Z0-9]', lock))} packages locked in {HERE / 'cpu.txt'}")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
