"""Whether a hidden check passed, so that what it judges cannot say so itself.

The check runs in the process that imports the agent's code. That code may print `OK`, leave with status 0 or skip what
it cannot do. So the count of tests is signed with a mark that the code has not seen, and it must be the number of tests
that the check's own files hold, each of them run and none skipped. (Code that searches its own interpreter's memory for
the mark could still forge it: this is proof against shortcuts, not against a burglar.)
"""

from __future__ import annotations

import ast
import secrets
from dataclasses import dataclass
from pathlib import Path

from labkit.agents.sandbox import SandboxLimits, run_python

_CHILD = Path(__file__).with_name("judge_child.py")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """`passed`: every test of the check ran and passed. `ran`: how many did, None when that is not known.

    `output`: what the test run printed. `isolation`: the doors of the sandbox that were closed.
    """

    passed: bool
    ran: int | None
    output: str
    isolation: tuple[str, ...]


def judge(workspace: Path, folder: str, limits: SandboxLimits | None = None) -> Judged:
    """Run the unittest tests under `workspace/folder`, contained. Never raises for what the code does."""
    expected, mark = count_tests(workspace / folder), secrets.token_hex(16)
    source = _CHILD.read_text(encoding="utf-8")
    done = run_python(workspace, ["-c", source, folder], limits, said=f"{mark}\n")
    signed = [line.split()[1:] for line in done.output.splitlines() if line.startswith(mark)]
    ran, bad, skipped = (int(word) for word in signed[0]) if len(signed) == 1 else (None, None, None)
    return Judged(
        passed=done.code == 0 and ran == expected and expected > 0 and bad == skipped == 0,
        ran=ran,
        output="\n".join(line for line in done.output.splitlines() if not line.startswith(mark)).strip(),
        isolation=done.isolation,
    )


def count_tests(folder: Path) -> int:
    """Test methods in the files that unittest's discovery would load, read without running them."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("test*.py"))]
    return sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test") for tree in trees for node in ast.walk(tree)
    )
