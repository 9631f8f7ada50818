"""AIPerf's definitions by hand, without AIPerf: what it times, and what it cannot."""

from typing import Any

import pyarrow as pa
import pytest
from builders import a_step
from export_runs import held_back, reasoned, stream

from labkit.core.records import ChunkRecord, StepRecord
from labkit.store.exports.aiperf.metrics import UNITS, metrics_of
from labkit.store.exports.requests import Request
from labkit.store.exports.streams import Streams
from labkit.store.tables import schema_of


def told(step: StepRecord, chunks: list[ChunkRecord]) -> dict[str, Any]:
    table = pa.Table.from_pylist([chunk.to_dict() for chunk in chunks], schema_of("chunks"))
    return metrics_of(Request(step, Streams(table).take(step)))


def test_the_clock_starts_with_text_and_ends_with_text():
    numbers = told(*held_back("r"))
    assert (numbers["time_to_first_token"], numbers["request_latency"]) == pytest.approx((1000, 1600))
    assert numbers["inter_token_latency"] == pytest.approx(600 / (10 - 5))
    assert numbers["inter_chunk_latency"] == pytest.approx([200, 400])
    assert (numbers["labkit_time_to_first_token"], numbers["labkit_request_duration"]) == pytest.approx((500, 1700))
    assert set(numbers) <= set(UNITS)


def test_without_token_ids_one_token_is_taken_for_the_first_response():
    assert told(*reasoned("r"))["inter_token_latency"] == pytest.approx(600 / (4 - 1))


def test_a_stream_that_never_had_text_has_tokens_and_no_times_but_the_labs():
    step, _ = held_back("r")
    numbers = told(step, stream(step, (10.5, "held", 3), (11.6, "held", 7)))
    assert {"time_to_first_token", "request_latency", "inter_token_latency"} & set(numbers) == set()
    assert (numbers["output_sequence_length"], numbers["labkit_request_duration"]) == (10, pytest.approx(1700))


def test_without_chunks_the_steps_own_times_are_taken_and_gaps_are_unknown():
    numbers = told(held_back("r")[0], [])
    assert (numbers["time_to_first_token"], numbers["request_latency"]) == pytest.approx((500, 1600))
    assert numbers["inter_token_latency"] == pytest.approx(1100 / 9)
    assert {"inter_chunk_latency", "time_to_second_token", "time_to_first_output_token"} & set(numbers) == set()


@pytest.mark.parametrize("tokens", [None, 0, 1])
def test_fewer_than_two_tokens_have_no_time_per_token(tokens: int | None):
    numbers = told(*held_back("r", completion_tokens=tokens))
    assert {"inter_token_latency", "output_token_throughput_per_user"} & set(numbers) == set()
    assert numbers.get("output_sequence_length") == tokens


def test_a_failed_request_has_its_prompt_and_nothing_else():
    assert told(a_step(error="HTTP 500", prompt_tokens=64, cached_tokens=0), []) == {"error_isl": 64}
    assert told(a_step(t_end=None), []) == {}


def test_no_draft_was_proposed_is_not_an_acceptance_of_zero():
    numbers = told(*held_back("r", drafts=0, drafted_tokens=0, accepted_tokens=0))
    assert numbers["spec_decode_draft_tokens"] == 0
    assert {"spec_decode_acceptance_length", "spec_decode_draft_acceptance_rate"} & set(numbers) == set()
