"""AIPerf's files, read back by AIPerf 0.13.0's own classes and recomputed by its own metrics."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiperf.common.models import record_models

from labkit.core.progress import Progress, silent
from labkit.store.exports import export
from labkit.store.exports.aiperf import RECORDS, SUMMARY, write_aiperf
from labkit.store.exports.aiperf.metrics import UNITS
from labkit.store.exports.requests import Request, requests_of
from labkit.store.runs import Run

T0 = 1_800_000_000_000_000_000
BASE, SPEC = "base,cold,repeat=0", "spec,cold,repeat=0"


def records(out: Path, cell: str = BASE) -> list[Any]:
    lines = (out / cell / RECORDS).read_text().splitlines()
    return [record_models.MetricRecordInfo.model_validate_json(line) for line in lines]


def summary(out: Path, cell: str = BASE) -> Any:
    from aiperf.common.models.export_models import JsonExportData

    return JsonExportData.model_validate_json((out / cell / SUMMARY).read_text())


def value(record: Any, name: str) -> Any:
    found = record.metrics.get(name)
    return None if found is None else found.value


@pytest.fixture
def told(run: Run, out: Path) -> Path:
    export(run, "aiperf", out)
    return out


def test_every_request_has_a_record_with_its_phase(told: Path):
    assert [r.metadata.benchmark_phase for r in records(told)] == ["warmup", "profiling", "profiling", "profiling"]
    step = records(told)[1].metadata
    assert (step.request_start_ns, step.request_end_ns) == (T0 + 10_000_000_000, T0 + 11_700_000_000)
    assert step.credit_issued_ns == T0 + 9_999_000_000
    assert (step.session_num, step.turn_index, step.conversation_id) == (1, 0, "tiny")
    assert len({r.metadata.x_request_id for r in records(told)}) == 4
    assert len({r.metadata.x_correlation_id for r in records(told)}) == 2


def test_numbers_by_hand(told: Path):
    first, _, reasoned = records(told)[1:]
    assert value(first, "time_to_first_token") == pytest.approx(1000)
    assert value(first, "request_latency") == pytest.approx(1600)
    assert value(first, "time_to_second_token") == pytest.approx(200)
    assert value(first, "inter_chunk_latency") == pytest.approx([200, 400])
    assert value(first, "inter_token_latency") == pytest.approx(600 / (10 - 5))
    assert value(first, "output_token_throughput_per_user") == pytest.approx(1 / 0.12)
    assert value(first, "e2e_output_token_throughput") == pytest.approx(10 / 1.6)
    assert value(first, "prefill_throughput_per_user") == pytest.approx(600)
    assert value(first, "labkit_time_to_first_token") == pytest.approx(500)
    assert value(first, "labkit_request_duration") == pytest.approx(1700)
    assert value(reasoned, "inter_token_latency") == pytest.approx(600 / 3)
    assert value(reasoned, "time_to_first_output_token") == pytest.approx(1000)
    assert (value(reasoned, "output_token_count"), value(reasoned, "reasoning_token_count")) == (3, 1)


def test_what_was_not_measured_is_absent_and_a_zero_is_a_zero(told: Path):
    first, spec = records(told)[1], records(told, SPEC)[0]
    assert value(first, "usage_prompt_cache_read_tokens") == 0
    assert "usage_prompt_cache_read_tokens" not in spec.metrics
    assert "spec_decode_steps" not in first.metrics
    assert value(spec, "spec_decode_acceptance_length") == 3
    assert value(spec, "spec_decode_draft_acceptance_rate") == 50


def test_a_failed_request_is_an_error_without_times(told: Path):
    gone = records(told)[2]
    assert (gone.error.code, gone.error.type, gone.error.message) == (500, "HTTPError", "HTTP 500: no room")
    assert gone.metrics == {}
    assert gone.metadata.request_end_ns == gone.metadata.request_start_ns
    assert [r.error for r in records(told)[:2]] == [None, None]


def test_the_summary_counts_errors_and_keeps_warm_up_apart(told: Path):
    base = summary(told)
    assert base.schema_version == base.SCHEMA_VERSION == "1.4"
    assert (base.request_count.avg, base.error_request_count.avg) == (2, 1)
    assert base.request_error_rate["avg"] == pytest.approx(100 / 3)
    assert [(e.error_details.code, e.count) for e in base.error_summary] == [(500, 1)]
    assert base.warmup_metrics["request_count"].avg == 1
    assert base.warmup_metrics["time_to_first_token"].avg == pytest.approx(1000)
    assert base.time_to_first_token.count == 2
    assert base.time_to_first_token.avg == pytest.approx((1000 + 400) / 2)
    assert (base.time_to_first_token.p50, base.time_to_first_token.std) == (pytest.approx(700), pytest.approx(300))
    assert base.inter_chunk_latency.count == 3
    assert base.overall_usage_prompt_cache_read_pct["avg"] == pytest.approx(100 * 640 / 1600)
    assert (base.run_info.trial, base.run_info.random_seed, base.run_info.run_label) == (0, 7, BASE)
    assert base.start_time.timestamp() == T0 / 1e9 + 10
    assert summary(told, SPEC).error_request_count is None


def test_rates_are_over_the_cells_own_time(told: Path):
    base = summary(told)
    assert base.benchmark_duration.avg == pytest.approx(4.0)
    assert base.request_throughput.avg == pytest.approx(2 / 4)
    assert base.output_token_throughput.avg == pytest.approx(14 / 4)


def test_only_metrics_that_aiperf_knows_and_in_its_units(told: Path):
    from aiperf.metrics.metric_registry import MetricRegistry

    for name, unit in UNITS.items():
        if not name.startswith("labkit_"):
            metric = MetricRegistry.get_class(name)
            assert str(metric.display_unit or metric.unit) == unit, name
    listed = {n for path in told.rglob(SUMMARY) for n, v in json.loads(path.read_text()).items() if _is_metric(v)}
    theirs = {name for name in listed if not name.startswith("labkit_")}
    assert len(theirs) > 25
    assert theirs <= set(MetricRegistry.all_tags())
    extra = {name for record in records(told) for name in record.metadata.model_extra or {}}
    assert all(name.startswith("labkit_") for name in extra)


def _is_metric(found: object) -> bool:
    return isinstance(found, dict) and "unit" in found


def test_aiperfs_own_metrics_say_the_same_of_the_same_responses(told: Path, run: Run):
    compared = 0
    for cell, arm in ((BASE, "base"), (SPEC, "spec")):
        mine = [r for r in requests_of(run) if r.step.arm == arm]
        for request, record in zip(mine, records(told, cell), strict=True):
            if not request.problem:
                theirs = by_aiperf(request)
                ours = {name: value(record, name) for name in theirs}
                assert ours == {name: pytest.approx(found, rel=1e-9) for name, found in theirs.items()}
                compared += len(theirs)
    assert compared > 40


def by_aiperf(request: Request) -> dict[str, Any]:
    """What AIPerf's metric classes make of the request's stream, in display units; what they refuse is left out."""
    from aiperf.common.exceptions import NoMetricValue
    from aiperf.metrics.metric_dicts import MetricRecordDict
    from aiperf.metrics.metric_registry import MetricRegistry

    parsed, raw = parsed_by_aiperf(request), MetricRecordDict()
    for tag in _TIMES:
        try:
            raw[tag] = MetricRegistry.get_class(tag)().parse_record(parsed, raw)
        except NoMetricValue:
            continue
    return {tag: found.value for tag, found in raw.to_display_dict(MetricRegistry, False, False).items()}


_TIMES = (
    "request_latency", "time_to_first_token", "time_to_second_token", "time_to_first_output_token", "decode_duration",
    "inter_chunk_latency", "input_sequence_length", "output_sequence_length", "output_token_count",
    "reasoning_token_count", "inter_token_latency", "output_token_throughput_per_user", "e2e_output_token_throughput",
    "prefill_throughput_per_user", "usage_prompt_tokens", "usage_completion_tokens", "usage_prompt_cache_read_tokens",
)  # fmt: skip


def parsed_by_aiperf(request: Request) -> Any:
    m, step, stream = record_models, request.step, request.stream
    tokens = stream.tokens[: int(stream.text.argmax()) + 1].sum()
    counts = m.TokenCounts(
        input=step.prompt_tokens,
        output=step.completion_tokens - (step.reasoning_tokens or 0),
        reasoning=step.reasoning_tokens,
        first_content_chunk_tokens=None if tokens != tokens else int(tokens),
    )
    usage = {"prompt_tokens": step.prompt_tokens, "completion_tokens": step.completion_tokens}
    if step.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": step.cached_tokens}
    responses = [
        m.ParsedResponse(perf_ns=round(t * 1e9), data=_data(bool(text), bool(output)))
        for t, text, output in zip(stream.t, stream.text, stream.output, strict=True)
    ]
    responses.append(m.ParsedResponse(perf_ns=round(step.t_end * 1e9), data=None, usage=usage))
    sent = m.RequestRecord(start_perf_ns=round(step.t_send * 1e9), end_perf_ns=round(step.t_end * 1e9) + 1)
    return m.ParsedResponseRecord(request=sent, responses=responses, token_counts=counts)


def _data(text: bool, output: bool) -> Any:
    if not text:
        return None
    return record_models.TextResponseData(text="x") if output else record_models.ReasoningResponseData(reasoning="x")


def test_nothing_of_the_environment_is_told_and_twice_is_the_same(run: Run, out: Path):
    once = [path.read_text() for path in write_aiperf(run, out, silent)]
    assert once == [path.read_text() for path in write_aiperf(run, out, silent)]
    assert "hunter2" not in "".join(once)


def test_progress_is_told_for_each_cell(run: Run, out: Path):
    said: list[Progress] = []
    write_aiperf(run, out, said.append)
    assert [(p.stage, p.message, p.done, p.total) for p in said] == [("aiperf", BASE, 0, 2), ("aiperf", SPEC, 1, 2)]
