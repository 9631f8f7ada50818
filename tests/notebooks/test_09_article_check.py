"""The article's lines put to the real vLLM, from the notebook's text to its last cell. No engine is started for it."""

from __future__ import annotations

import pytest
from notebook_runs import MARKDOWN, execute, figures, printed, shown

STEM = "09_article_check"
SMALL = {"ENGINE": "live", "PROFILE": "cpu-smollm2"}


@pytest.mark.engine
def test_on_the_real_engine(no_engine):
    done = execute(STEM, no_engine, **SMALL)
    said, sentences = printed(done), shown(done, MARKDOWN)
    assert "live answers: the vLLM 0." in said
    assert "ImportError: cannot import name 'global_force_connection' from 'vllm.connections'" in said
    first, names, misspelt, reuse, article, others, change = sentences
    assert first.startswith("**As predicted:** the engine's Python says `ImportError")
    assert names.startswith("**Surprise:**")
    assert "it refuses 5 and ignores 5, 5 of them without a word" in names
    assert misspelt.startswith("**As predicted:** with one letter missing, none of ")
    assert reuse.startswith("**Surprise:**")
    assert "switches it on when nobody says, and where it was on it served" in reuse
    assert "10 differ and 4 cannot be seen here" in article
    assert others.startswith("**As predicted:**")
    assert change.count("**Write**") == 7
    assert change.count("**No equivalent**") == 3
    assert change.count("**Leave it out**") == 2
    tables = shown(done, "text/html")
    assert any("unrecognized arguments: --mori-io" in table for table in tables)
    assert any("transfer_timeout 30.0, now 5.0" in table for table in tables)
    rates, ttft, tokens = figures(done)
    assert all(len(figure["data"]) > 2 for figure in (ttft, tokens))
    assert any(trace["marker"]["symbol"].endswith("-open") for trace in ttft["data"] if trace["mode"] == "markers")
    assert rates["data"]


def test_without_an_engine_it_says_so_and_goes_on(no_engine, monkeypatch):
    monkeypatch.setenv("PATH", str(no_engine))
    done = execute(STEM, no_engine, ENGINE="live", PROFILE="mi300x-8-qwen3-235b")
    assert "27 lines cannot be asked here: vLLM is not installed here." in printed(done)
    assert "Nobody could be asked here" in shown(done, MARKDOWN)[-1]
