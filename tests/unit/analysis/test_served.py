"""What requests were served like, put together once and asked again and again."""

import numpy as np
import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of
from scipy.optimize import isotonic_regression

from labkit.analysis.capacity import capacity, capacity_of, falling
from labkit.analysis.concurrency import WindowRow
from labkit.analysis.goodput import good, goodput, goodput_of
from labkit.analysis.served import is_good, served, times_of
from labkit.analysis.slo import Slo
from labkit.analysis.tables import typed_frame
from labkit.core.errors import BadInput
from labkit.core.records import ChunkRecord


def a_request(turn: int, first: float, last: float, tokens: int | None, **more: object):
    times = {"t_send": 0.0, "t_first_token": first, "t_last": last, "t_end": last}
    return a_step(turn=turn, condition="agents=1", completion_tokens=tokens, **{**times, **more})


REQUESTS = [
    (a_request(1, 0.5, 1.5, 11), (0.5, 1.0, 1.5)),  # 0.1 s a token, gaps of 0.5 s
    (a_request(2, 0.5, 2.5, 11), (0.5, 1.5, 2.5)),  # 0.2 s a token
    (a_request(3, 0.5, 0.5, 1), (0.5,)),  # one token: neither gap nor time per token
    (a_request(4, 0.5, 1.5, 11, error="HTTP 500"), (0.5, 1.5)),
    (a_request(5, 0.5, 1.5, 11, warmup=True), (0.5, 1.5)),
]
STEPS = frame_of([step for step, _ in REQUESTS])
CHUNKS = frame_of([chunk for step, times in REQUESTS for chunk in chunks_at(step, *times)], ChunkRecord)
WINDOW = {"arm": "base", "condition": "agents=1", "repeat": 0, "agents": 1, "start": 0.0, "end": 10.0, "close": 10.0}
SPANS = typed_frame(WindowRow, [WindowRow(**WINDOW, sent=4, cut=0, gaps=False)])


def test_times_of_each_request():
    found = times_of(STEPS, CHUNKS)
    assert found["tpot_s"][:2].tolist() == pytest.approx([0.1, 0.2])
    assert found["gap_s"][:2].tolist() == pytest.approx([0.5, 1.0])
    assert found[["tpot_s", "gap_s"]].isna().loc[2].all()
    assert found["finished"].tolist() == [True, True, True, False, True]


@pytest.mark.parametrize(
    ("slo", "kept"),
    [
        ({"itl_s": 2.0}, [1, 2, 3]),
        ({"itl_s": 0.6}, [1, 3]),
        ({"itl_s": 2.0, "tpot_s": 0.15}, [1, 3]),
        ({"itl_s": 2.0, "tpot_s": 0.05}, [3]),
        ({"itl_s": 2.0, "ttft_s": 0.4}, []),
    ],
)
def test_each_limit_has_its_say(slo: dict[str, float], kept: list[int]):
    asked = Slo(**{"ttft_s": 1.0, **slo})
    load = served(STEPS, CHUNKS, SPANS)
    assert STEPS["turn"][load.requests.index][is_good(load.requests, asked)].tolist() == kept
    assert int(goodput_of(load, asked)["n_good"].iloc[0]) == len(kept)
    assert good(STEPS[:4], CHUNKS, asked).sum() == len(kept)


def test_asking_again_is_the_same_as_asking_the_chunks():
    load = served(STEPS, CHUNKS, SPANS)
    for ttft in (0.4, 1.0):
        asked = Slo(ttft_s=ttft, itl_s=0.6)
        pd.testing.assert_frame_equal(goodput_of(load, asked), goodput(STEPS, CHUNKS, SPANS, asked))
        pd.testing.assert_frame_equal(capacity_of(load, asked), capacity(STEPS, CHUNKS, SPANS, asked))


def test_the_falling_fit_is_that_of_scipy():
    dice = np.random.default_rng(3)
    for levels in (1, 2, 5, 7):
        rows, weights = dice.random((50, levels)), dice.integers(1, 60, levels).tolist()
        expected = [isotonic_regression(row, weights=weights, increasing=False).x for row in rows]
        np.testing.assert_allclose(falling(rows, weights), expected, atol=1e-12)


def test_an_objective_in_words():
    assert str(Slo(ttft_s=3, itl_s=0.5)) == "TTFT <= 3 s and ITL p99 <= 0.5 s for 90 % of the requests sent"
    assert Slo(ttft_s=3, itl_s=0.5, tpot_s=0.1).asked == "TTFT <= 3 s, TPOT <= 0.1 s and ITL p99 <= 0.5 s"
    with pytest.raises(BadInput, match="tpot_s"):
        Slo(ttft_s=3, itl_s=0.5, tpot_s=0.0)
