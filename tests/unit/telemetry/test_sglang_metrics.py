"""SGLang's own pages (tests/sglang_pages, written by its collectors) as the lab's quantities: every value is known.

The traffic is two requests: 1000 prompt tokens without a hit and 1100 with 900 hit, 50 and 20 tokens out.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer

from labkit.telemetry.engine_metrics import Counts, Snapshot, delta, parse
from labkit.telemetry.engine_names import KV_USAGES, VLLM, names_of
from labkit.telemetry.engine_source import EngineSource
from labkit.telemetry.names import COUNTS, TIMES
from labkit.telemetry.sglang_names import SGLANG

PAGES = Path(__file__).parents[2] / "sglang_pages"


def page(name: str, t: float = 0.0) -> Snapshot:
    return parse((PAGES / f"{name}.txt").read_text(encoding="utf-8"), t)


def counts(side: str) -> Counts:
    return delta(page(f"{side}-before"), page(f"{side}-after", t=2.0)).counts


def test_a_server_that_does_both() -> None:
    assert counts("colocated") == Counts(
        requests=2,
        prefix_queries=2100,
        prefix_hits=900,
        prompt_tokens=2100,
        prompt_computed=1200,
        prompt_cached=900,
        generation_tokens=70,
        preemptions=0,
        drafts=35,
        transfer_failures=None,
        e2e_s=2.0,
        queue_s=0.25,
        prefill_s=0.5,
    )


def test_prefill_tells_transfers_in_seconds_and_bytes() -> None:
    found = counts("prefill")
    assert (found.transfers, found.transfer_bytes, found.transfer_failures) == (2, 2 * 64 * (1 << 20), 1)
    assert found.transfer_s == pytest.approx(0.025)
    assert (found.prefix_hits, found.prompt_computed) == (900, 1200)


def test_decode_tells_no_prefill_and_its_retractions() -> None:
    found = counts("decode")
    assert (found.prefill_s, found.transfers, found.prompt_computed) == (None, None, 0)
    assert (found.preemptions, found.generation_tokens, found.drafts) == (1, 70, 35)


def test_what_sglang_does_not_tell_is_none() -> None:
    for side in ("colocated", "prefill", "decode"):
        found = counts(side)
        assert (found.prompt_transferred, found.drafted_tokens, found.accepted_tokens) == (None, None, None)
        assert (found.accepted_per_position, found.decode_s, found.transfers_expired) == (None, None, None)


def test_gauges_and_the_pool() -> None:
    now = page("colocated-after").now
    assert (now.running, now.waiting, now.kv_usage) == (3, 2, 0.25)
    assert (now.num_gpu_blocks, now.block_size) == (600_000, 1)


def test_a_counter_that_is_not_yet_born_is_0_and_an_unknown_one_is_none() -> None:
    before = page("colocated-before")
    assert set(before.counters) == {*COUNTS, *TIMES}
    assert (before.counters["requests"], before.counters["prompt_cached"], before.counters["e2e_s"]) == (0.0, 0.0, 0.0)
    assert (before.counters["drafts"], before.counters["transfer_bytes"]) == (None, None)
    assert parse("").counters["requests"] is None
    assert page("prefill-after").counters["transfer_bytes"] == 128 * (1 << 20)


def test_another_start_is_seen_without_a_start_time() -> None:
    """By counters that fell, and by how long the start took where they have grown past the first reading."""
    first, later = page("colocated-before"), page("colocated-after")
    assert (later.started, delta(first, later).restarted) == (None, False)
    assert delta(later, first).restarted
    text = (PAGES / "colocated-after.txt").read_text(encoding="utf-8")
    other = parse(text.replace("80.125", "79.875"))
    found = delta(first, other)
    assert (found.restarted, found.counts) == (True, Counts())
    assert "startup_time_seconds" in found.why


def test_the_engine_is_known_by_its_page() -> None:
    assert page("decode-after").engine is SGLANG
    assert names_of(["vllm:num_requests_running", "python_info"]) is VLLM
    assert names_of([]) is VLLM
    assert {"vllm:kv_cache_usage_perc", "sglang:token_usage"} == KV_USAGES


def test_ranks_of_one_engine_are_added_and_their_usage_averaged() -> None:
    lines = [f'sglang:num_running_reqs{{dp_rank="{n}",tp_rank="0"}} {n}' for n in (1, 2)]
    lines += [f'sglang:token_usage{{dp_rank="{n}",tp_rank="0"}} 0.{n}' for n in (1, 2)]
    now = parse("\n".join(lines) + "\n").now
    assert (now.running, now.kv_usage) == (3, pytest.approx(0.15))


async def test_the_sampler_reads_a_page_whole_that_cannot_be_asked_for_series() -> None:
    """SGLang's exporter writes an empty page when series are named: several processes' files have no names."""
    text, asked = (PAGES / "colocated-after.txt").read_text(encoding="utf-8"), list[str]()

    async def serve(request: web.BaseRequest) -> web.Response:
        asked.append(request.path_qs)
        return web.Response(text="" if "name[]" in request.query else text)

    async with RawTestServer(serve) as server:
        source = EngineSource("e/engine", f"{server.make_url('')}/metrics".replace("//metrics", "/metrics"))
        for _ in range(2):
            readings = {each.name: each.value for each in await source.read()}
            assert readings == {"sglang:num_running_reqs": 3, "sglang:num_queue_reqs": 2, "sglang:token_usage": 0.25}
    assert [("name" in path) for path in asked] == [True, False, False]
