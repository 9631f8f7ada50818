"""Parts of steps on the run's clock: where each begins and ends, what is cut, and what no part fills."""

from __future__ import annotations

import pytest
from builders import a_step, frame_of

from labkit.analysis.spans import step_end, step_spans

TOLD = {
    "t_send": 10.0, "t_first_token": 12.0, "t_last": 14.9, "t_end": 15.0, "send_lag_s": 0.5, "server_s": 0.1,
    "queue_s": 0.2, "prefill_s": 1.5, "transfer_s": None, "decode_s": 2.9,
}  # fmt: skip


def spans(*steps, tools: bool = False) -> list[tuple[int, str, float, float]]:
    table = step_spans(frame_of(list(steps)), tools)
    return [(row.step, row.part, pytest.approx(row.start), pytest.approx(row.end)) for row in table.itertuples()]


def test_the_engines_parts_follow_one_another_and_the_rest_before_the_first_token_is_other():
    assert spans(a_step(**TOLD)) == [
        (0, "client_lag", 9.5, 10.0),
        (0, "server", 10.0, 10.1),
        (0, "queue", 10.1, 10.3),
        (0, "prefill", 10.3, 11.8),
        (0, "other", 11.8, 12.0),
        (0, "decode", 12.0, 14.9),
    ]


def test_parts_end_where_the_client_saw_the_first_token_and_the_end():
    """The engine's clocks are others than the client's: a sum that is too long is no reason to overlap."""
    long = spans(a_step(**{**TOLD, "prefill_s": 9.0, "decode_s": 9.0}))
    assert (0, "prefill", 10.3, 12.0) in long
    assert (0, "decode", 12.0, 15.0) in long
    assert not any(part == "other" for _, part, _, _ in long)


def test_a_transfer_lies_between_prefill_and_first_token():
    found = spans(a_step(**{**TOLD, "arm": "pd", "transfer_s": 0.1}))
    assert (0, "transfer", 11.8, 11.9) in found
    assert (0, "other", 11.9, 12.0) in found


def test_an_engine_that_told_no_times_leaves_what_the_client_saw():
    untold = a_step(t_send=1.0, t_first_token=1.5, t_end=3.0)
    assert spans(untold) == [(0, "first", 1.0, 1.5), (0, "rest", 1.5, 3.0)]


def test_a_failed_step_is_one_span_as_long_as_is_known():
    known = a_step(t_send=1.0, t_end=4.0, error="HTTP 500")
    assert spans(known) == [(0, "failed", 1.0, 4.0)]
    assert spans(a_step(t_send=1.0, t_end=None, error="gone")) == []
    assert list(step_end(frame_of([a_step(t_send=1.0, t_end=None, error="gone")]))) == [1.0]


def test_a_tool_is_cut_at_the_next_send_of_its_agent_and_stream():
    """A replay that leaves gaps out sends at once: the tool's recorded time did not pass."""
    first = a_step(turn=1, t_send=0.0, t_end=1.0, tool_name="run", tool_s=5.0, recording="tiny")
    other_agent = a_step(turn=1, t_send=1.1, t_end=1.2, agent="a1", recording="tiny")
    second = a_step(turn=2, t_send=1.5, t_end=2.0, tool_name="run", tool_s=5.0, recording="tiny")
    tools = [each for each in spans(first, other_agent, second) if each[1] == "tool"]
    assert tools == [(0, "tool", 1.0, 1.5)]  # the last step's tool would have been waited for by nobody


def test_the_last_tool_counts_where_it_was_waited_for():
    last = a_step(t_send=0.0, t_end=1.0, tool_name="run", tool_s=5.0, recording="tiny")
    assert spans(last, tools=True)[-1] == (0, "tool", 1.0, 6.0)
    live = a_step(t_send=0.0, t_end=1.0, tool_name="run", tool_s=5.0)  # no recording: a live agent
    assert spans(live)[-1] == (0, "tool", 1.0, 6.0)


def test_no_step_no_span():
    assert spans() == []
