"""Every request's TTFT, end-to-end time and tokens come back from each file as the run has them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow.parquet as pq
import pytest
from run_folders import ended
from synthetic import steps
from trace_reader import read_trace

from labkit.store.exports import FORMATS, export
from labkit.store.runs import Run, RunStore

ARMS = ("base", "prefix", "pd", "spec", "all")


class Told(NamedTuple):
    """Seconds and tokens of one request."""

    arm: str
    repeat: int
    turn: int
    ttft_s: float
    e2e_s: float
    prompt: int
    cached: int
    completion: int


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    return RunStore().open(ended(steps(ARMS, turns=5, repeats=2)))


def from_run(run: Run) -> list[Told]:
    return _from_rows(run.steps().to_dict("records"))


def _from_rows(rows: list[dict[Any, Any]]) -> list[Told]:
    return [
        Told(
            r["arm"], r["repeat"], r["turn"], r["t_first_token"] - r["t_send"], r["t_end"] - r["t_send"],
            r["prompt_tokens"], r["cached_tokens"], r["completion_tokens"],
        )
        for r in rows
    ]  # fmt: skip


def from_aiperf(files: list[Path]) -> list[Told]:
    found = []
    for f in files:
        for line in f.read_text().splitlines() if f.suffix == ".jsonl" else ():
            m, told = json.loads(line)["metrics"], json.loads(line)["metadata"]
            e2e_s = (told["request_end_ns"] - told["request_start_ns"]) / 1e9
            ttft_s = m["time_to_first_token"]["value"] / 1e3
            tokens = (m[name]["value"] for name in ("usage_prompt_tokens", "usage_prompt_cache_read_tokens",
                                                     "usage_completion_tokens"))  # fmt: skip
            repeat, turn = int(f.parent.name.rpartition("=")[2]), told["turn_index"] + 1
            found.append(Told(told["labkit_arm"], repeat, turn, ttft_s, e2e_s, *tokens))
    return found


def from_otlp(files: list[Path]) -> list[Told]:
    found = []
    for line in files[0].read_text().splitlines():
        for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            at = {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}
            if at["gen_ai.operation.name"] == "chat":
                e2e_s = (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e9
                tokens = (int(at[f"gen_ai.usage.{name}_tokens"]) for name in ("input", "cache_read.input", "output"))
                key = (at["labkit.arm"], int(at["labkit.repeat"]), int(at["labkit.turn"]))
                found.append(Told(*key, at["gen_ai.response.time_to_first_chunk"], e2e_s, *tokens))
    return found


def from_perfetto(files: list[Path]) -> list[Told]:
    return [
        Told(
            s.group.removeprefix("arm "), s.args["repeat"], s.args["turn"], s.args["ttft_s"],
            (s.end - s.start) / 1e6, s.args["prompt_tokens"], s.args["cached_tokens"], s.args["completion_tokens"],
        )
        for s in read_trace(files[0]).slices if "turn" in s.args
    ]  # fmt: skip


READERS: dict[str, Callable[[list[Path]], list[Told]]] = {
    "csv": lambda files: _from_rows(pd.read_csv(files[0]).to_dict("records")),
    "parquet": lambda files: _from_rows(pq.read_table(files[0]).to_pylist()),
    "json": lambda files: _from_rows(json.loads(files[0].read_text())),
    "aiperf": from_aiperf,
    "otlp": from_otlp,
    "perfetto": from_perfetto,
}
"""llm-d's report has no requests: it is held to their distribution instead, below."""


@pytest.mark.parametrize("fmt", READERS)
def test_each_request_comes_back(run: Run, tmp_path: Path, fmt: str):
    found, expected = sorted(READERS[fmt](export(run, fmt, tmp_path / "out"))), sorted(from_run(run))
    assert len(expected) == 50
    for got, meant in zip(found, expected, strict=True):
        assert (got.ttft_s, got.e2e_s) == pytest.approx((meant.ttft_s, meant.e2e_s), abs=2e-6)
        assert got._replace(ttft_s=0, e2e_s=0) == meant._replace(ttft_s=0, e2e_s=0)


def test_llmds_report_has_their_distribution(run: Run, tmp_path: Path):
    files = export(run, "llmd", tmp_path / "out")
    assert len(files) == 10
    for file in files:
        arm, _, repeat = file.stem.split(",")[1:]
        mine = [t for t in from_run(run) if (t.arm, f"repeat={t.repeat}") == (arm, repeat)]
        told = json.loads(file.read_text())["results"]["request_performance"]["aggregate"]
        assert told["requests"]["total"] == len(mine) == 5
        assert told["latency"]["time_to_first_token"]["mean"] == pytest.approx(sum(t.ttft_s for t in mine) / 5)
        assert told["latency"]["request_latency"]["max"] == pytest.approx(max(t.e2e_s for t in mine))
        assert told["requests"]["input_length"]["mean"] == sum(t.prompt for t in mine) / 5


def test_no_rate_is_told_where_other_arms_ran_in_the_same_time(run: Run, tmp_path: Path):
    (llmd, *_), (_, aiperf, *_) = (export(run, fmt, tmp_path / fmt) for fmt in ("llmd", "aiperf"))
    assert "throughput" not in json.loads(llmd.read_text())["results"]["request_performance"]["aggregate"]
    assert {"benchmark_duration", "request_throughput"} & set(json.loads(aiperf.read_text())) == set()


def test_no_format_is_forgotten():
    assert {*READERS, "llmd"} == set(FORMATS)
