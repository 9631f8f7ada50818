"""The steps of set-up, in order. Each may be repeated: what is there already is left alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from venv_setup import machine, pipconfig, venv
from venv_setup.runner import CommandFailed, Step, run, run_all

ROOT = Path(__file__).resolve().parents[2]
STAMP = ".setup-done"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
_NETWORK = (
    "Check the network and pip's settings (`pip config list`), then run `make setup` again: it goes on from here."
)


class Installer:
    """The commands that fill one environment. `root`: the project's folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.venv = root / ".venv"
        self.python = str(self.venv / "bin/python")

    def pip(self, *arguments: str) -> str:
        return run([self.python, "-m", "pip", *arguments], cwd=self.root)

    def make_venv(self, again: bool) -> None:
        venv.make(self.venv, again)
        venv.clear_half_installed(self.venv)

    def uv(self, again: bool) -> None:
        """uv installs the rest 5 to 10 times faster; it is a help, not a need."""
        try:
            self.pip("install", "--no-deps", "--require-hashes", *_fresh(again), "-r", "requirements/uv.txt")
        except CommandFailed as failure:
            print(f"  uv is not to be had ({failure}); pip will install the rest, more slowly")

    def torch(self, again: bool) -> None:
        """The CPU build: from wherever pip is configured to look, else from PyTorch's own index.

        In a step of its own with no retries: with a second index, pip asks it for every package, and when it cannot be
        reached, each of 240 packages waits for it.
        """
        torch = ["install", "--no-deps", "--require-hashes", *_fresh(again), "-r", "requirements/torch-cpu.txt"]
        try:
            self.pip(*torch, "--retries", "0")
        except CommandFailed:
            self.pip(*torch, "--index-url", TORCH_INDEX)

    def rest(self, again: bool) -> None:
        """Everything but torch; by uv, or by pip when uv is missing or fails. Compiled now, else at every start."""
        try:
            self._rest_by_uv(again)
        except (CommandFailed, FileNotFoundError) as failure:
            print(f"  uv could not ({str(failure)[:160]}); once more with pip")
            self.pip("install", "--no-deps", "--require-hashes", *_fresh(again), "-r", "requirements/cpu.txt")

    def _rest_by_uv(self, again: bool) -> None:
        words = pipconfig.uv_environment(self.pip("config", "list"), os.environ)
        options = ["--no-deps", "--require-hashes", "--compile-bytecode", *(["--reinstall"] if again else [])]
        uv = [str(self.venv / "bin/uv"), "pip", "install", "--python", self.python]
        run([*uv, *options, "-r", "requirements/cpu.txt"], cwd=self.root, environment=words)

    def labkit(self, again: bool) -> None:
        """This project and its engine plugins, editable."""
        packages = [".", *(str(file.parent) for file in sorted(self.root.glob("plugins/*/pyproject.toml")))]
        editable = [word for package in packages for word in ("-e", package)]
        self.pip("install", "--no-deps", "--no-build-isolation", *editable)
        venv.at_every_start(self.venv, Path(__file__).with_name("amdsmi_guard.py"))

    def check(self, again: bool) -> None:
        """The parts that most often break load: torch computes, vLLM, Ray and labkit import."""
        run([self.python, "-c", "import torch, vllm, ray, labkit; torch.ones(2, 2) @ torch.ones(2, 2)"], cwd=self.root)


def _fresh(again: bool) -> list[str]:
    return ["--force-reinstall"] if again else []


def plan(installer: Installer) -> list[Step]:
    """The steps, with what to do when one fails."""
    return [
        Step("make .venv", installer.make_venv, "On Debian and Ubuntu the venv module is in the package python3-venv."),
        Step("install uv", installer.uv, _NETWORK),
        Step(
            "install torch (CPU build)",
            installer.torch,
            f"The wheel comes from pip's indexes or {TORCH_INDEX}; without either, put it in a folder and set "
            "PIP_FIND_LINKS to that folder. Then run `make setup` again.",
        ),
        Step("install the other packages", installer.rest, _NETWORK),
        Step("install labkit and its engine plugins", installer.labkit, "This is a fault in the project: report it."),
        Step(
            "check that the parts load",
            installer.check,
            "If a package is damaged, start over: `rm -rf .venv && make setup`.",
        ),
    ]


def set_up(root: Path = ROOT) -> int:
    """Make or repair the environment; the exit status. The stamp is written last: without it set-up is not done."""
    stamp = root / ".venv" / STAMP
    try:
        machine.check(root)
    except machine.CannotSetUp as reason:
        print(reason, file=sys.stderr)
        return 1
    stamp.unlink(missing_ok=True)
    try:
        done = run_all(plan(Installer(root)), marker=root / ".venv" / ".setup-step")
    except KeyboardInterrupt:
        print("\nInterrupted. Run `make setup` again: it goes on from here.", file=sys.stderr)
        return 130
    if not done:
        return 1
    stamp.write_text("done\n", encoding="utf-8")
    print("Set up. Next: make demo, or `source .venv/bin/activate` and `labkit doctor`.")
    return 0
