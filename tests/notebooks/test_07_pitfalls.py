"""The notebook on pitfalls, on the real engine: one line of text breaks the cache, and moving it mends it."""

from __future__ import annotations

import pytest
from notebook_runs import MARKDOWN, execute, figures, printed, shown

from labkit.analysis.cache import cache_use
from labkit.analysis.tables import measured
from labkit.experiments.lessons.counting import encoder, prompt, template_of
from labkit.store.runs import RunStore
from labkit.traffic.recording import named

SMALL = {"STEPS": 3, "ARMS": ["prefix"]}
NAME = "ranks-that-jump-live"


@pytest.mark.engine
def test_on_the_real_engine(real):
    done = execute("07_pitfalls", real, **SMALL)
    steps = {run.info.asked["recording"].rsplit("/")[-1]: measured(run.steps()) for run in RunStore().runs()}
    clean, first, last = (steps[f"{NAME}{end}.jsonl"] for end in ("", "-time-first", "-time-last"))
    assert [len(each) for each in (clean, first, last)] == [3, 3, 3]
    assert cache_use(first).hit_rate == cache_use(first).hit_ceiling == 0
    assert cache_use(clean).hit_rate > 0.5
    assert cache_use(last).hit_rate == pytest.approx(cache_use(clean).hit_rate, abs=0.05)

    text, told = printed(done), shown(done, MARKDOWN)
    assert "message 1 (system): a time or date that changes" in text
    assert "all 15 requests extend the one before, byte for byte" in text
    assert told[0].startswith("**As predicted:** with the time first the cache served 0 % of the prompt tokens")
    assert told[1].startswith("**Not measured:**")
    assert told[2].startswith("**As predicted:** with the time last the cache served")
    assert any("arguments anew" in one and one.startswith("**As predicted:**") for one in told)
    assert any("the template that forgets had" in one for one in told)
    assert all(figure["data"] for figure in figures(done))

    encode, own = encoder("smollm2-135m-instruct"), template_of("smollm2-135m-instruct")
    counts = [len(prompt(named(NAME).request(index), own, encode)) for index in range(3)]
    assert counts == clean.sort_values("turn")["prompt_tokens"].tolist()
