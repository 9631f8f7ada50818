"""OpenTelemetry spans, read back by OpenTelemetry's own protobuf classes and its list of attribute names."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiOperationNameValues
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE, ErrorTypeValues

from labkit.store.exports import export
from labkit.store.runs import Run, RunStore

T0 = 1_800_000_000_000_000_000


def traces(run: Run, out: Path) -> list[TracesData]:
    (path,) = export(run, "otlp", out)
    return [json_format.ParseDict(_as_protobuf_json(json.loads(line)), TracesData()) for line in _lines(path)]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _as_protobuf_json(value: Any) -> Any:
    """OTLP/JSON has ids in hex where protobuf's JSON has base64; all else is the same."""
    if isinstance(value, list):
        return [_as_protobuf_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode() if key in _IDS else _as_protobuf_json(item)
        for key, item in value.items()
    }


_IDS = ("traceId", "spanId", "parentSpanId")


def spans(data: TracesData) -> list[Span]:
    return [span for r in data.resource_spans for scope in r.scope_spans for span in scope.spans]


def told(span: Span) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in span.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@pytest.fixture
def base(run: Run, out: Path) -> list[Span]:
    """The spans of base's measured pass: agent, chat, tool, chat, chat."""
    return spans(traces(run, out)[1])


def test_one_trace_per_pass_and_in_each_a_tree(run: Run, out: Path):
    found = [spans(data) for data in traces(run, out)]
    assert [len(of) for of in found] == [3, 5, 3]
    for of in found:
        assert len({span.trace_id for span in of}) == 1
        assert {len(span.trace_id) for span in of} == {16}
        assert {len(span.span_id) for span in of} == {8}
        (root,) = [span for span in of if not span.parent_span_id]
        assert all(span.parent_span_id == root.span_id for span in of if span is not root)
        assert len({span.span_id for span in of}) == len(of)
        assert all(root.start_time_unix_nano <= s.start_time_unix_nano <= s.end_time_unix_nano for s in of)
        assert all(s.end_time_unix_nano <= root.end_time_unix_nano for s in of)
    assert len({of[0].trace_id for of in found}) == 3


def test_names_kinds_and_times(base: list[Span]):
    assert [(span.name, span.kind) for span in base] == [
        ("invoke_agent agent a0", Span.SPAN_KIND_INTERNAL),
        ("chat tiny-served", Span.SPAN_KIND_CLIENT),
        ("execute_tool ls", Span.SPAN_KIND_INTERNAL),
        ("chat tiny-served", Span.SPAN_KIND_CLIENT),
        ("chat tiny-served", Span.SPAN_KIND_CLIENT),
    ]
    assert [(s.start_time_unix_nano - T0, s.end_time_unix_nano - T0) for s in base[:3]] == [
        (10_000_000_000, 14_000_000_000),
        (10_000_000_000, 11_700_000_000),
        (11_700_000_000, 11_950_000_000),
    ]
    assert [link.span_id for link in base[2].links] == [base[1].span_id]


def test_tokens_and_times_are_the_runs(base: list[Span]):
    first, answer = told(base[1]), told(base[4])
    assert first["gen_ai.usage.input_tokens"] == 600
    assert (first["gen_ai.usage.output_tokens"], first["gen_ai.usage.cache_read.input_tokens"]) == (10, 0)
    assert first["gen_ai.response.time_to_first_chunk"] == pytest.approx(0.5)
    assert first["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert (answer["gen_ai.usage.cache_read.input_tokens"], answer["gen_ai.usage.reasoning.output_tokens"]) == (640, 1)
    assert "gen_ai.usage.reasoning.output_tokens" not in first
    assert (first["labkit.arm"], first["labkit.warmup"], first["labkit.prefill_s"]) == ("base", False, 0.4)
    assert first["gen_ai.provider.name"] == "vllm"


def test_a_failed_call_is_an_error_without_tokens(base: list[Span]):
    gone = base[3]
    assert (gone.status.code, gone.status.message) == (Status.STATUS_CODE_ERROR, "HTTP 500: no room")
    assert told(gone)[ERROR_TYPE] == "500"
    assert not any(name.startswith("gen_ai.usage") for name in told(gone))
    assert ERROR_TYPE not in told(base[1])
    assert base[1].status.code == Status.STATUS_CODE_UNSET


def test_every_name_is_of_the_conventions_or_labkits_own(run: Run, out: Path):
    deprecated = {"gen_ai.system", "gen_ai.prompt", "gen_ai.completion", "gen_ai.usage.prompt_tokens"}
    known = {v for n, v in vars(gen_ai_attributes).items() if n.startswith("GEN_AI_")} - deprecated | {ERROR_TYPE}
    names = {name for data in traces(run, out) for span in spans(data) for name in told(span)}
    assert {name for name in names if not name.startswith("labkit.")} <= known
    assert "gen_ai.usage.cache_read.input_tokens" in names
    operations = {told(s)["gen_ai.operation.name"] for data in traces(run, out) for s in spans(data)}
    assert operations == {
        GenAiOperationNameValues[name].value for name in ("INVOKE_AGENT", "CHAT", "EXECUTE_TOOL")
    }  # fmt: skip


def test_an_error_without_a_status_is_other(store: RunStore, out: Path):
    from builders import a_step

    with store.create("quick", {}, {}) as writer:
        writer.step(a_step(writer.id, t_end=None))
    (data,) = traces(store.open(writer.id), out)
    assert told(spans(data)[1])[ERROR_TYPE] == ErrorTypeValues.OTHER.value
    assert spans(data)[1].name == "chat"


def test_a_replay_that_left_gaps_out_ran_no_tool_and_a_live_run_did(store: RunStore, out: Path):
    from export_runs import held_back

    for recording, asked, expected in (("tiny", {}, []), ("tiny", {"gaps": True}, [True]), ("", {}, [False])):
        with store.create("replay", asked, {}) as writer:
            writer.step(*held_back(writer.id, recording=recording))
        (data,) = traces(store.open(writer.id), out)
        tools = [told(span) for span in spans(data) if span.name == "execute_tool ls"]
        assert [tool["labkit.tool.slept"] for tool in tools] == expected


def test_ids_are_hex_and_the_same_each_time(run: Run, out: Path):
    (path,) = export(run, "otlp", out)
    once = path.read_text()
    span = json.loads(once.splitlines()[0])["resourceSpans"][0]["scopeSpans"][0]["spans"][1]
    assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
    assert isinstance(span["startTimeUnixNano"], str)
    assert export(run, "otlp", out)[0].read_text() == once
    assert "hunter2" not in once
