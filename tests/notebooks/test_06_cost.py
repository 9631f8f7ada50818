"""06 on the real engine: one bill and its prices, what is assumed of the machine, and a dash where nobody checked."""

from __future__ import annotations

import pytest
from notebook_runs import MARKDOWN, execute, figures, printed, shown

SMALL = {"ARMS": ["base", "prefix"], "STEPS": 2}


@pytest.mark.engine
def test_on_the_real_engine(real):
    done = execute("06_cost", real, **SMALL)
    said = "\n".join(shown(done, MARKDOWN))
    assert "live run" in printed(done)
    assert "and the computed tokens to" in said
    assert "moves the cost of a task most" in said
    assert "The price of laptop-cpu is put to seconds of " in printed(done)
    assert "not checked, since a replay sends recorded requests" in printed(done)
    titles = [figure["layout"]["title"]["text"] for figure in figures(done)]
    assert any("What does a task cost" in title for title in titles)
    assert any("What moves the cost of a task run" in title for title in titles)
    assert all(figure["data"] for figure in figures(done))
