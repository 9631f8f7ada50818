"""05 on the real engine: the same requests in both arms, base's shares that add up, and no verdict from so little."""

from __future__ import annotations

import pytest
from notebook_runs import MARKDOWN, execute, printed, shown

SMALL = {"RECORDINGS": ["ranks-that-jump-live"], "ARMS": ["base", "prefix"], "STEPS": 2}


@pytest.mark.engine
def test_on_the_real_engine(real):
    done = execute("05_all_together", real, **SMALL)
    said = "\n".join(shown(done, MARKDOWN))
    assert "live run" in printed(done)
    assert "**As predicted:** 4 of the 4 requests of 2 arms were sent to base, too" in said
    assert "Cannot tell an order" in said
    assert "**Checked:** " in said or "**Not checked:** " in said
    assert "prefix caching × speculation beside each of the two alone" in said
    assert "drift: " in printed(done)
    html = "\n".join(shown(done, "text/html"))
    assert "prefix caching: " in html
    assert "of the prompts was seen before" in html
