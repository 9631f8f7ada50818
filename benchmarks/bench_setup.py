"""How long does set-up take, step by step? `python benchmarks/bench_setup.py`

Copies the project's files into a temporary folder and runs its set-up there, so the environment is new while the
installers' download caches are whatever they are: run it twice for the warm figure. Needs 4 GB in the temporary folder
(TMPDIR), which is removed afterwards. The last line of the output is the result as JSON.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOAL_S = 240.0
_DONE = re.compile(r"^\[\d+/\d+\] (?P<name>.+): (?P<seconds>[\d.]+) s$", re.MULTILINE)
_LEFT_OUT = shutil.ignore_patterns(".*", "runs", "build", "*.egg-info", "__pycache__", "node_modules")


def measure(folder: Path) -> tuple[dict[str, float], float, float]:
    """Set the project up in `folder`: seconds per step, seconds in all, and the environment's size in GB."""
    project = folder / "project"
    shutil.copytree(ROOT, project, ignore=_LEFT_OUT)
    started = time.monotonic()
    argv = [sys.executable, str(project / "requirements/setup_venv.py")]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)
    total = time.monotonic() - started
    if done.returncode:
        sys.exit(f"set-up failed:\n{done.stdout}{done.stderr}")
    return steps(done.stdout), total, size_gb(project / ".venv")


def steps(output: str) -> dict[str, float]:
    """Step name -> seconds, from what set-up printed."""
    return {match["name"]: float(match["seconds"]) for match in _DONE.finditer(output)}


def size_gb(folder: Path) -> float:
    """Disk that the folder takes, GB, as `du` counts it."""
    return int(subprocess.check_output(["du", "-sk", folder], text=True).split()[0]) / 1e6


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="labkit-setup-") as folder:
        seconds, total, size = measure(Path(folder))
    for name, taken in seconds.items():
        print(f"{name:42} {taken:7.1f} s")
    print(f"{'in all':42} {total:7.1f} s   (goal: under {GOAL_S:.0f} s)")
    print(f"{'size of .venv':42} {size:7.1f} GB")
    result = {
        "benchmark": "setup",
        "total_s": round(total, 1),
        "goal_s": GOAL_S,
        "venv_gb": round(size, 2),
        "steps_s": seconds,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
