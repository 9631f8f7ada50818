"""Counters of several processes as fields of one step."""

from dataclasses import replace

import pytest

from labkit.core.chat import ChatRequest
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.meter import Meter, around
from labkit.experiments.rows import Around
from labkit.telemetry.engine_metrics import Counts

ASK = ChatRequest(
    messages=[{"role": "user", "content": "one two three four five six seven eight nine ten"}], max_tokens=9
)


def test_a_split_engine_takes_prefill_from_prefill_and_the_rest_from_decode():
    prefill = Counts(requests=1, e2e_s=0.85, queue_s=0.1, prefill_s=0.7, decode_s=0.0)
    decode = Counts(
        requests=1,
        e2e_s=2.51,
        queue_s=0.3,
        prefill_s=0.2,
        decode_s=2.0,
        transfer_s=0.25,
        prompt_transferred=640,
        drafts=4,
    )
    step = around({"prefill": prefill, "decode": decode})
    assert (step.transferred_tokens, step.drafts) == (640, 4)
    assert step.queue_s == pytest.approx(0.1 + 0.05)  # decode waits for the transfer in its queue
    assert (step.transfer_s, step.decode_s) == (0.25, 2.0)
    assert step.prefill_s == pytest.approx(0.7 + 0.2)
    assert step.server_s == pytest.approx(0.05 + 0.01)


def test_the_servers_time_is_what_it_took_beyond_its_core_and_unknown_for_several_requests_at_once():
    one = Counts(requests=1, e2e_s=3.0, queue_s=0.1, prefill_s=0.7, decode_s=2.0)
    assert around({"engine": one}).server_s == pytest.approx(0.2)
    assert around({"engine": replace(one, e2e_s=2.7)}).server_s == 0.0
    assert around({"engine": replace(one, requests=2)}).server_s is None
    assert around({"engine": replace(one, e2e_s=None)}).server_s is None


def test_one_process_says_nothing_about_transfer_nor_what_the_reply_says_better():
    counts = Counts(queue_s=0.1, prefill_s=0.7, decode_s=2.0, prompt_transferred=0, drafts=4, drafted_tokens=16)
    assert around({"engine": counts}) == Around(drafts=4, drafted_tokens=16)


def test_one_process_that_counted_one_request_tells_its_times_for_a_reply_that_does_not():
    step = around({"engine": Counts(requests=1, queue_s=0.1, prefill_s=0.7, decode_s=2.0)})
    assert (step.queue_s, step.prefill_s, step.decode_s, step.halves) == (0.1, 0.7, 2.0, False)


def test_what_others_requests_added_is_nobodys():
    two = Counts(requests=2, queue_s=0.1, prefill_s=0.7, decode_s=2.0, drafts=4)
    assert around({"engine": two}) == around({"prefill": two, "decode": two}) == Around()


def test_with_replicas_nobody_knows_which_one_served_the_step():
    assert around({"engine-0": Counts(drafts=1), "engine-1": Counts(drafts=2)}) == Around()


async def test_a_lap_holds_one_step_and_the_total_all_of_them():
    async with FakeEngine(FakeDials(num_spec_tokens=2, acceptance=(1,))) as engine:
        meter = await Meter.started({"engine": f"{engine.base_url}/metrics"})
        async with EngineClient(engine.base_url, engine.model) as client:
            laps = []
            for _ in range(2):
                await client.chat(ASK)
                laps.append(await meter.lap())
    # 9 tokens: one from prefill, then four rounds of 1 + 1 accepted out of 2 drafted
    bare = [replace(lap, server_s=None, queue_s=None, prefill_s=None, decode_s=None) for lap in laps]
    assert bare == [Around(drafts=4, drafted_tokens=8, accepted_tokens=4)] * 2
    assert all(lap.server_s < 0.01 for lap in laps)
    engine_total = meter.total()["processes"]["engine"]
    assert engine_total["growth"]["requests"] == 2
    assert engine_total["growth"]["generation_tokens"] == 18
    assert engine_total["after"]["drafts"] == 8
    assert engine_total["restarted"] is None


async def test_a_restart_in_between_is_said_and_gives_nulls():
    async with FakeEngine(FakeDials()) as engine:
        meter = await Meter.started({"engine": f"{engine.base_url}/metrics"})
        engine.restart()
        assert await meter.lap() == Around()
        total = meter.total()["processes"]["engine"]
        assert total["restarted"]
        assert total["growth"]["requests"] is None


async def test_without_metrics_everything_is_null():
    meter = await Meter.started({"engine": "http://127.0.0.1:9/metrics"})
    assert await meter.lap() == Around()
    assert meter.total() == {"processes": {}}
