"""A check says no to every shortcut that code under test could take, and yes only when all of it ran and passed."""

from pathlib import Path

import pytest

from labkit.agents.judge import Judged, count_tests, judge
from labkit.agents.sandbox import SandboxLimits

CHECK = """
import unittest
from mine import add

class HiddenTest(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(1, 2), 3)

    def test_large(self):
        self.assertEqual(add(10**9, 1), 10**9 + 1)
"""
GOOD = "def add(a, b):\n    return a + b\n"
SHORTCUTS = {
    "wrong": "def add(a, b):\n    return 3\n",
    "says OK and leaves": "import os\nprint('\\nRan 2 tests\\n\\nOK', flush=True)\nos._exit(0)\n",
    "leaves with status 0": "raise SystemExit(0)\n",
    "skips all": "import unittest\nraise unittest.SkipTest('not today')\n",
    "skips one": "import unittest\ndef add(a, b):\n    if a > 5: raise unittest.SkipTest('no')\n    return a + b\n",
    "empties the loader": GOOD + "import unittest\nunittest.TestLoader.getTestCaseNames = lambda *_: []\n",
    "never ends": "while True:\n    pass\n",
    "does not load": "def add(:\n",
    "reads the pipe": "import os, sys\nprint(sys.stdin.read(), '2 0 0')\nos._exit(0)\n",
}  # fmt: skip


def judged(tmp_path: Path, code: str, check: str = CHECK) -> Judged:
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "check").mkdir()
    (tmp_path / "check/__init__.py").touch()
    (tmp_path / "check/test_hidden.py").write_text(check)
    return judge(tmp_path, "check", SandboxLimits(wall_s=5, cpu_s=2))


def test_all_run_and_pass(tmp_path: Path):
    found = judged(tmp_path, GOOD)
    assert (found.passed, found.ran) == (True, 2)
    assert found.output.endswith("OK")


@pytest.mark.parametrize("code", SHORTCUTS.values(), ids=SHORTCUTS.keys())
def test_no_shortcut_passes(tmp_path: Path, code: str):
    assert not judged(tmp_path, code).passed


def test_a_check_without_tests_passes_nobody(tmp_path: Path):
    assert not judged(tmp_path, GOOD, "import unittest\n").passed


def test_tests_are_counted_without_running_them(tmp_path: Path):
    (tmp_path / "test_a.py").write_text("raise SystemExit\n" + CHECK)
    (tmp_path / "helper.py").write_text("def test_not_loaded(): pass\n")
    assert count_tests(tmp_path) == 2
