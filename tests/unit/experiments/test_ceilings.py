"""What could have been shared of each prompt, over fake engines whose template and cache are known."""

from pathlib import Path

import pytest
from synthetic import recording

from labkit.analysis.cache_gap import cache_gap, step_gap
from labkit.core.chat import ChatRequest
from labkit.core.errors import RequestFailed
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine, FakeReply
from labkit.experiments.ceilings import Ceiling, Salted, Shareable
from labkit.experiments.design import Pass
from labkit.experiments.seen import UNKNOWN, Seen, ServedBy, served_by
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save
from labkit.traffic.replay import ReplayOptions, replay
from labkit.traffic.salt import SaltPolicy

BLOCK = 16
ONE = ServedBy("engine", "engine")
SPLIT = ServedBy("prefill", "decode")
THOUGHT = "because" * 8  # 14 tokens as the fake counts
ANSWER = "answer42"  # 2 tokens


def talk(turns: int = 4, reasoning: str = "", answer: str = ANSWER) -> Recording:
    """Each turn asks 40 tokens; the recorded reply thinks, and answers."""
    reply = {"role": "assistant", "content": answer} | ({"reasoning": reasoning} if reasoning else {})
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"{turn:04d}" * 40}],
            reply=reply,
            request={"max_tokens": 40},
        )
        for turn in range(1, turns + 1)
    )
    header = RecordingHeader(name="talk", task="talk", decided_by="scripted", model="fake", tools=[])
    return Recording(header=header, steps=steps)


def says(reasoning: str = "", answer: str = ANSWER, times: int = 8, **dials: object) -> FakeDials:
    return FakeDials(block_size=BLOCK, replies=(FakeReply(reasoning=reasoning, content=answer),) * times, **dials)


async def shareable(dials: FakeDials, heard: Recording, by: ServedBy = ONE, **options: object) -> list[Shareable]:
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as client:
        ceiling = Ceiling(client, Seen(BLOCK))
        steps = replay(heard, client, ReplayOptions(**options), SaltPolicy())
        return [await ceiling.of(done, by) async for done in steps]


async def test_a_history_that_is_only_appended_to_is_shared_to_its_last_token():
    found = await shareable(says(), talk())
    # 40 and 3 marks; then each turn a reply of 2, its end mark, and 40 and 3 marks again
    assert [each.retokenized_tokens for each in found] == [43, 89, 135, 181]
    assert [each.append_tokens for each in found] == [None, 45, 91, 137]
    assert [each.shared_tokens for each in found] == [0, 45, 91, 137]
    assert [each.ceiling_tokens for each in found] == [0, 32, 80, 128]
    assert [each.reachable_tokens for each in found] == [0, 32, 80, 128]


async def test_a_template_that_drops_reasoning_drifts_by_what_it_drops_and_what_came_after():
    kept = await shareable(says(THOUGHT), talk(reasoning=THOUGHT))
    assert all(each.append_tokens == each.shared_tokens for each in kept[1:])
    lost = await shareable(says(THOUGHT, forgets_reasoning=True), talk(reasoning=THOUGHT))
    assert [each.append_tokens - each.shared_tokens for each in lost[1:]] == [14 + 2] * 3


async def test_recorded_words_that_the_engine_never_said_are_new_and_not_drift():
    found = await shareable(says(answer="something else"), talk())
    assert [each.append_tokens for each in found] == [each.shared_tokens or None for each in found]
    assert found[1].append_tokens == 43
    live = await shareable(says(answer="something else"), talk(), history="live")
    assert live[1].append_tokens == live[1].shared_tokens == 43 + 4


async def test_what_decode_made_is_out_of_prefills_reach():
    long = "x" * 4 * 40
    one, split = [await shareable(says(answer=long), talk(answer=long), by, history="live") for by in (ONE, SPLIT)]
    assert [each.ceiling_tokens for each in one] == [each.ceiling_tokens for each in split] == [0, 80, 160, 240]
    assert [each.reachable_tokens for each in one] == [0, 80, 160, 240]
    assert [each.reachable_tokens for each in split] == [0, 32, 112, 208]  # whole blocks of 43, 127 and 211


async def test_without_a_known_process_nothing_is_out_of_reach_or_within():
    found = await shareable(says(), talk(), UNKNOWN)
    assert [each.reachable_tokens for each in found] == [None] * 4
    assert [each.ceiling_tokens for each in found] == [0, 32, 80, 128]


def test_who_served_a_step():
    assert served_by(["engine"]) == ONE
    assert served_by(["prefill", "decode"], ["prefill", "decode"]) == SPLIT
    replicas = ["engine-0", "engine-1"]
    assert served_by(replicas, ["engine-1"]) == ServedBy("engine-1", "engine-1")
    for unknown in (served_by(replicas), served_by(replicas, replicas), served_by([]), served_by(["decode", "p", "q"])):
        assert unknown == UNKNOWN


def test_a_replica_has_not_what_the_other_computed():
    seen, text = Seen(4), list(range(20))
    seen.add(text[:12], [], ServedBy("engine-0", "engine-0"))
    assert seen.reachable(text, "engine-0") == seen.ceiling(text) == 12
    assert seen.reachable(text, "engine-1") == 0
    seen.add(text, [], UNKNOWN)
    assert seen.reachable(text, "engine-0") is None


def test_a_warm_pass_knows_what_the_cold_one_before_it_left():
    salted, cold = Salted(), Pass(recording=recording())
    first = salted.of(cold, 4)
    first.add([1, 2, 3, 4, 5], [], ONE)
    assert salted.of(Pass(recording=recording(), cache="warm"), 4) is first
    assert salted.of(Pass(recording=recording(), cache="warm"), 4, agent=1) is not first
    assert salted.of(cold, 4) is not first
    assert Salted().of(cold, None) is None


class Mute:
    """An engine without a tokenizer."""

    async def tokenize(self, request: ChatRequest) -> list[int]:
        raise RequestFailed("http://fake", "HTTP 404")


async def test_without_a_tokenizer_or_a_block_size_nothing_is_measured():
    async with FakeEngine(says()) as engine, EngineClient(engine.base_url, engine.model) as client:
        for ceiling in (Ceiling(client, None), Ceiling(Mute(), Seen(BLOCK))):
            steps = replay(talk(2), client, ReplayOptions(), SaltPolicy())
            assert [await ceiling.of(done, ONE) async for done in steps] == [Shareable()] * 2


async def run(root: Path, heard: Recording, dials: FakeDials, *arms: str):
    from labkit.experiments.asked import Asked
    from labkit.experiments.runner import run_replay

    source = str(save(heard, root / "talk.jsonl"))
    async with FakeEngine(dials) as engine:
        provider = StaticProvider(dict.fromkeys(arms, engine.base_url), "fake", BLOCK)
        asked = Asked(profile="cpu-smollm2", recording=source, arms=arms)
        return (await run_replay("replay", asked, provider, store=RunStore(root))).steps()


@pytest.mark.parametrize(("blocks", "evicted"), [(4096, False), (6, True)])
async def test_a_cache_that_is_too_small_evicts_and_the_gap_says_so(tmp_path: Path, blocks: int, evicted: bool):
    """The prompts grow to 11 blocks. Where only 6 are kept, the tail of the last prompt is what went first."""
    dials = FakeDials(block_size=BLOCK, num_blocks=blocks, reply_tokens=2)
    steps = await run(tmp_path, talk(), dials, "prefix")
    row = cache_gap(steps).iloc[0]
    assert bool(row["eviction"] > 0) is evicted
    assert (row["routing"], row["off"], row["beyond"]) == (0, 0, 0)
    assert row["ceiling"] - row["cached"] == row["eviction"]
    last = step_gap(steps).iloc[-1]
    assert last["cached"] == (128 if not evicted else 6 * BLOCK)


async def test_the_same_loss_without_prefix_caching_is_off(tmp_path: Path):
    steps = await run(tmp_path, talk(), FakeDials(block_size=BLOCK, reply_tokens=2), "base", "prefix")
    base, prefix = (cache_gap(steps).set_index("arm").loc[arm] for arm in ("base", "prefix"))
    assert base["off"] == base["ceiling"] == prefix["ceiling"] == prefix["cached"]
    assert (base["eviction"], prefix["off"]) == (0, 0)
    assert (steps["retokenized_tokens"] == steps["prompt_tokens"])[~steps["warmup"]].all()


class Recut:
    """A tokenizer that cuts words in history otherwise than they were generated: one token a letter, not four."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client

    async def tokenize(self, request: ChatRequest) -> list[int]:
        ids: list[int] = []
        for message in request.messages:
            letters = message["role"] == "assistant"
            ids += [1, *(map(ord, message["content"]) if letters else [hash(message["content"])] * 40), 2]
        return [*ids, 1]


async def test_words_that_are_cut_otherwise_than_they_were_generated_drift_and_are_not_evicted():
    async with FakeEngine(says()) as engine, EngineClient(engine.base_url, engine.model) as client:
        ceiling = Ceiling(Recut(client), Seen(BLOCK))
        steps = replay(talk(3), client, ReplayOptions(), SaltPolicy())
        found = [await ceiling.of(done, ONE) async for done in steps]
    assert [each.append_tokens for each in found] == [None, 43 + 2, 95 + 2]
    assert [each.append_tokens - each.shared_tokens for each in found[1:]] == [2, 2]


async def test_what_the_last_pass_accepted_is_not_in_the_cache():
    """9 tokens: one from prefill, then four passes of 1 + 1 accepted; the last two are in no block."""
    words = "x" * 4 * 9
    drafting = says(answer=words, num_spec_tokens=2, acceptance=(1,))
    plain, drafted = [await shareable(dials, talk(answer=words)) for dials in (says(answer=words), drafting)]
    assert [each.shared_tokens for each in plain] == [each.shared_tokens for each in drafted]
    assert [each.ceiling_tokens for each in plain[:2]] == [0, 48]  # 43 + 8 = 51
    seen = Seen(1)
    seen.add([1, 2, 3], [4, 5, 6], ONE, last=2)
    assert (seen.ceiling([1, 2, 3, 4, 5, 6, 7]), seen.shared([1, 2, 3, 4, 5, 6, 7])) == (4, 6)


async def test_with_drafts_the_cache_reaches_its_ceiling_and_nothing_is_called_evicted(tmp_path: Path):
    dials = FakeDials(block_size=BLOCK, reply_tokens=7, num_spec_tokens=4, acceptance=(3,))
    steps = await run(tmp_path, talk(answer="".join(f"{n:>4}" for n in range(7))), dials, "prefix+spec")
    row = cache_gap(steps).iloc[0]
    assert (row["lost"], row["beyond"]) == (0, 0)
    assert row["cached"] == row["ceiling"] > 0
