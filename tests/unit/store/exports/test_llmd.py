"""llm-d's reports, held to the published JSON schema of v0.2.1 and to numbers by hand."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from synthetic import failed as failed_step

from labkit.store.exports import export
from labkit.store.runs import Run, RunStore

SCHEMA = "llm-d_benchmark_report_v0_2_1.schema.json"


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    default = Path(__file__).parents[5] / "shared" / "schemas"
    file = Path(os.environ.get("LABKIT_TEST_SCHEMAS") or default) / SCHEMA
    if not file.exists():
        pytest.skip(f"{file} is not here; point LABKIT_TEST_SCHEMAS at a folder with {SCHEMA}")
    return Draft202012Validator(json.loads(file.read_text()), format_checker=Draft202012Validator.FORMAT_CHECKER)


def reports(run: Run, out: Path) -> dict[str, Any]:
    found = {path.name.split(",", 1)[1]: json.loads(path.read_text()) for path in export(run, "llmd", out)}
    return {name.removesuffix(".json"): report for name, report in found.items()}


@pytest.fixture
def told(run: Run, out: Path) -> dict[str, Any]:
    return reports(run, out)


@pytest.fixture
def base(told: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = told["base,cold,repeat=0"]
    return found


def test_every_report_keeps_to_the_published_schema(told: dict[str, Any], schema: Draft202012Validator):
    assert set(told) == {"base,cold,repeat=0", "spec,cold,repeat=0"}
    for report in told.values():
        assert [error.message for error in schema.iter_errors(report)] == []


def test_the_schema_would_notice(base: dict[str, Any], schema: Draft202012Validator):
    base["results"]["request_performance"]["aggregate"]["latency"]["request_latency"]["units"] = "hours"
    assert [error.json_path for error in schema.iter_errors(base)] != []


def test_a_run_in_which_nothing_answered_keeps_to_it_too(store: RunStore, out: Path, schema: Draft202012Validator):
    with store.create("quick", {}, {}) as writer:
        writer.step(failed_step("base", 1).__class__.from_dict({**failed_step("base", 1).to_dict(), "run": writer.id}))
    (report,) = reports(store.open(writer.id), out).values()
    assert list(schema.iter_errors(report)) == []
    assert report["results"]["request_performance"]["aggregate"] == {"requests": {"total": 1, "failures": 1,
                                                                                  "incomplete": 0}}  # fmt: skip
    assert "load" not in report["scenario"]
    assert "observability" not in report["results"]


def test_failures_are_counted_and_warm_up_is_not(base: dict[str, Any]):
    requests = base["results"]["request_performance"]["aggregate"]["requests"]
    assert (requests["total"], requests["failures"], requests["incomplete"]) == (3, 1, 0)
    assert requests["input_length"]["mean"] == 800
    assert (requests["output_length"]["min"], requests["output_length"]["max"]) == (4, 10)


def test_latencies_by_hand(base: dict[str, Any]):
    latency = base["results"]["request_performance"]["aggregate"]["latency"]
    assert latency["time_to_first_token"]["mean"] == pytest.approx((0.5 + 0.4) / 2)
    assert latency["request_latency"]["mean"] == pytest.approx((1.7 + 1.0) / 2)
    assert latency["request_latency"]["p90"] == pytest.approx(1.0 + 0.9 * 0.7)
    assert latency["time_per_output_token"]["mean"] == pytest.approx((1.2 / 9 + 0.6 / 3) / 2)
    assert latency["normalized_time_per_output_token"]["mean"] == pytest.approx((1.7 / 10 + 1.0 / 4) / 2)
    assert latency["inter_token_latency"]["mean"] == pytest.approx((0.5 + 0.2 + 0.4 + 0.6) / 4)
    assert {name: of["units"] for name, of in latency.items()} == {
        "time_to_first_token": "s", "request_latency": "s", "time_per_output_token": "s/token",
        "normalized_time_per_output_token": "s/token", "inter_token_latency": "s/token",
    }  # fmt: skip


def test_rates_and_sessions_by_hand(base: dict[str, Any], told: dict[str, Any]):
    rates = base["results"]["request_performance"]["aggregate"]["throughput"]
    assert rates["output_token_rate"] == {"units": "tokens/s", "mean": pytest.approx(14 / 4)}
    assert rates["input_token_rate"]["mean"] == pytest.approx(1600 / 4)
    assert rates["request_rate"]["mean"] == pytest.approx(2 / 4)
    sessions = base["results"]["session_performance"]["sessions"]
    assert [sessions[name] for name in ("total", "succeeded", "failed", "total_events", "total_events_completed")] == [
        1, 0, 1, 3, 2,
    ]  # fmt: skip
    assert "session_duration" not in sessions
    spec = told["spec,cold,repeat=0"]["results"]["session_performance"]["sessions"]
    assert spec["session_duration"]["mean"] == pytest.approx(4.0)
    assert spec["output_tokens_per_session"]["mean"] == 30


def test_what_was_seen_of_the_engine_within_the_cells_time(base: dict[str, Any], told: dict[str, Any]):
    usage, hits = (c["aggregate"] for c in base["results"]["observability"]["components"])
    assert usage["kv_cache_usage"]["units"] == "percent"
    assert (usage["kv_cache_usage"]["min"], usage["kv_cache_usage"]["max"]) == (20, 40)
    assert hits["cache_hit_rate"] == {"units": "percent", "mean": pytest.approx(100 * 640 / 1600)}
    assert "observability" not in told["spec,cold,repeat=0"]["results"]


def test_the_stack_is_the_arms_own_engine_without_its_secrets(base: dict[str, Any], told: dict[str, Any]):
    (engine,) = base["scenario"]["stack"]
    assert engine["standardized"] == {
        "kind": "generic", "tool": "vllm", "tool_version": "0.32.0", "role": "engine", "model": "tiny-served",
        "cpu": "Some CPU",
    }  # fmt: skip
    assert engine["native"]["args"]["--max-model-len"] == "8192"
    (other,) = told["spec,cold,repeat=0"]["scenario"]["stack"]
    assert "--speculative-config" in other["native"]["args"]
    assert engine["metadata"]["cfg_id"] != other["metadata"]["cfg_id"]
    assert "hunter2" not in json.dumps(told)
    load = base["scenario"]["load"]
    assert load["standardized"]["input_seq_len"] == {"distribution": "other", "value": 800, "min": 600, "max": 1000}
    assert (load["standardized"]["concurrency"], load["native"]["args"]["gaps"]) == (1, True)
