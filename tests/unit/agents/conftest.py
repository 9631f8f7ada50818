"""A small package with one failing test, as a workspace."""

from pathlib import Path

import pytest

from labkit.agents.workspace import Workspace

FILES = {
    "adder/__init__.py": "from adder.core import add\n",
    "adder/core.py": '"""Adding."""\n\n\ndef add(a, b):\n    return a - b\n',
    "tests/__init__.py": "",
    "tests/test_core.py": (
        "import unittest\n\nfrom adder import add\n\n\nclass AddTest(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The package's folder; a secret lies beside it."""
    (tmp_path / "secret.txt").write_text("the secret")
    for name, text in FILES.items():
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "work"


@pytest.fixture
def workspace(folder: Path):
    with Workspace(folder) as workspace:
        yield workspace
