"""Write the metrics pages that SGLang's own collectors make of known traffic: tests/sglang_pages/*.txt.

    .venv/bin/python tests/sglang_record.py            # installs the pinned wheel, and writes the pages again
    python-with-sglang tests/sglang_record.py inside FOLDER MODEL

Inside, a tokenizer's and a scheduler's collector are made as the server makes them, and their page is put together
from the files of several processes, as the server does it. Nothing of SGLang is replaced.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parent / "sglang_pages"
SIDES = ("colocated", "prefill", "decode")


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    from sglang_wheel import python

    with tempfile.TemporaryDirectory() as folder:
        record(python(Path(folder)), PAGES)


def record(program: str, pages: Path) -> None:
    """Two pages for each side: before and after the traffic."""
    from labkit.engines.accepts.configs import model_configs

    pages.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as model:
        config = json.dumps(dict(model_configs()["Qwen/Qwen3-8B"]))
        (Path(model) / "config.json").write_text(config, encoding="utf-8")
        env = {**os.environ, "HF_HUB_OFFLINE": "1", "PROMETHEUS_MULTIPROC_DIR": model}
        done = subprocess.run([program, __file__, "inside", str(pages), model], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]


def inside(pages: Path, model: str) -> None:
    """A process for each side, forked after the imports: the collectors are global."""
    from sglang.srt import server_args
    from sglang.srt.arg_groups import pipeline
    from sglang.srt.observability import metrics_collector as sglang

    assert pipeline
    for side in SIDES:
        child = os.fork()
        if child == 0:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(dir=model)
            try:
                one_side(pages, model, side, server_args, sglang)
            except BaseException:  # noqa: BLE001 - a child that goes on would be a second recorder
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def one_side(pages: Path, model: str, side: str, server_args: Any, sglang: Any) -> None:
    mode = [] if side == "colocated" else ["--disaggregation-mode", side, "--disaggregation-transfer-backend", "mori"]
    argv = ["--model-path", model, "--served-model-name", "qwen3", "--device", "cuda", "--enable-metrics"]
    drafts = ["--speculative-algorithm", "NGRAM", "--attention-backend", "triton", "--max-running-requests", "64"]
    args = server_args.prepare_server_args([*argv, *mode, *drafts])
    args.resolve_once()
    server_args.publish(args, role="tokenizer")
    labels = sglang.tokenizer_metric_labels()
    ranks = {"tp_rank": 0, "pp_rank": 0, "moe_ep_rank": 0}
    tokenizer = sglang.TokenizerMetricsCollector(server_args=args, labels=labels)
    scheduler = sglang.SchedulerMetricsCollector(labels={**labels, **ranks}, server_args=args)
    phases = {"load_weight": 41.5, "kv_cache_allocation": 2.25, "scheduler_e2e": 80.125, "tokenizer_e2e": 81.0625}
    tokenizer.emit_startup_time({**phases, "cuda_graph": {"decode": 20.5}})
    _started(scheduler)
    write(pages / f"{side}-before.txt")
    _traffic(tokenizer, scheduler, labels, side, sglang)
    write(pages / f"{side}-after.txt")


def _started(scheduler: Any) -> None:
    scheduler.emit_constants(
        max_total_num_tokens=600_000,
        max_total_num_tokens_swa=None,
        weight_memory_usage_gb=16.0,
        kv_cache_memory_usage_gb=80.0,
        graph_memory_usage_gb={"decode": 1.5},
        max_running_requests_under_SLO=None,
        page_size=1,
        num_pages=600_000,
        context_len=32_768,
        startup_available_gpu_memory_gb=190.0,
    )


def _traffic(tokenizer: Any, scheduler: Any, labels: dict[str, str], side: str, sglang: Any) -> None:
    """Two requests: 1000 prompt tokens without a hit, then 1100 with 900 hit; 50 and 20 tokens out."""
    for prompt, cached, out, seconds in ((1000, 0, 50, 1.5), (1100, 900, 20, 0.5)):
        details = {"device": cached, "host": 0} if cached else None
        tokenizer.observe_one_finished_request(
            labels, prompt, out, cached, seconds, False, details, spec_verify_ct=out // 2, is_streaming=True
        )
        scheduler.observe_queue_time(0.125)
        if side != "decode":
            scheduler.observe_per_stage_req_latency("prefill_forward", 0.25)
            scheduler.increment_realtime_tokens(None, prompt - cached, cached)
            scheduler.increment_effective_prefill_tokens(prompt - cached, cached, 0, 0)
        if side == "prefill":
            scheduler.observe_kv_transfer_metrics(latency_ms=12.5, total_mb=64.0, speed_gb_s=5.0)
    if side == "prefill":
        scheduler.increment_transfer_failed_reqs()
    if side == "decode":
        scheduler.increment_retracted_reqs(1, 1000, 5)
    stats = sglang.SchedulerStats()
    stats.num_running_reqs, stats.num_queue_reqs = sglang.QueueCount(3), sglang.QueueCount(2)
    stats.token_usage, stats.full_token_usage = 0.25, 0.25
    scheduler.log_stats(stats)


def write(path: Path) -> None:
    """As the server's /metrics puts it together. What differs each time is made equal: the number of the process, and
    the order in which the files of several processes are found."""
    from prometheus_client import CollectorRegistry, generate_latest, multiprocess

    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    page = re.sub(r'pid="\d+"', 'pid="1"', generate_latest(registry).decode())
    families = sorted(re.split(r"^(?=# HELP )", page, flags=re.MULTILINE))
    path.write_text("".join(families), encoding="utf-8")


if __name__ == "__main__":
    inside(Path(sys.argv[2]), *sys.argv[3:]) if sys.argv[1:2] == ["inside"] else main()
