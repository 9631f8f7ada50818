"""Two processes and one engine: the second is told who holds it, and a killed holder holds nothing."""

import subprocess
import sys

import pytest

from labkit.core.errors import EngineBusy
from labkit.engines.run_lock import held, holder

HOLD = """
import sys, pathlib
from labkit.engines.run_lock import held
with held(pathlib.Path(sys.argv[1]), "e1", "run 7f3a"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that holds the engine until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_nobody_holds_an_engine_that_nobody_took(tmp_path):
    assert holder(tmp_path) is None


def test_the_second_is_told_who_holds_it(tmp_path, other):
    assert holder(tmp_path) == "run 7f3a"
    with pytest.raises(EngineBusy, match="e1 is held by run 7f3a"), held(tmp_path, "e1", "me"):
        pass
    assert holder(tmp_path) == "run 7f3a"


def test_a_killed_holder_holds_nothing(tmp_path, other):
    other.kill()
    other.wait()
    assert holder(tmp_path) is None
    with held(tmp_path, "e1", "me"):
        assert holder(tmp_path) == "me"
    assert holder(tmp_path) is None
