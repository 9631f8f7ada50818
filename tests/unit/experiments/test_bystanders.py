"""CPU time of others, told apart from that of the engine and of the lab itself."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from labkit.experiments.bystanders import Bystanders

pytestmark = pytest.mark.alone

BUSY = "while True: pass"


@pytest.fixture
def stranger() -> Iterator[int]:
    """A busy process that is no child of this one."""
    child = f"[sys.executable, '-c', '{BUSY}'], stdout=subprocess.DEVNULL"  # an inherited pipe would never end
    starter = f"import subprocess, sys; print(subprocess.Popen({child}).pid)"
    pid = int(subprocess.run([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True, check=True).stdout)
    yield pid
    subprocess.run(["kill", "-9", str(pid)], check=True)


def test_a_stranger_counts_until_it_is_named_as_the_engine(stranger: int):
    ignorant, knowing = Bystanders(()), Bystanders((stranger,))
    time.sleep(1.0)
    with_it, without = ignorant.cores(), knowing.cores()
    assert with_it is not None
    assert without is not None
    assert with_it > 0.1
    assert with_it - without > 0.1
