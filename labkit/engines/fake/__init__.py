"""An engine with dials: the same HTTP as vLLM 0.32, and a known answer for every number.

It exists for known-answer and load tests, and for tests of processes that must fail on command. It never stands where a
real engine can: no result, figure, notebook or default of the lab comes from it, and its model name says `fake`.

    async with FakeEngine(FakeDials(ttft_s=0.05, itl_s=0.01)) as engine:  # engine.base_url, engine.model
    python -m labkit.engines.fake --port 8009 --itl-s 0.02
"""

from labkit.engines.fake.dials import FakeDials, FakeReply, Fault
from labkit.engines.fake.server import FakeEngine

__all__ = ["FakeDials", "FakeEngine", "FakeReply", "Fault"]
