"""The factorial over fake engines with known answers: the order, the requests, cold and warm, and what is left out."""

import json
from pathlib import Path

import pytest
from factorials import asked, measured, of, run, saved, static

from labkit.core.errors import BadInput, EngineNotReady
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.asked import recordings_of
from labkit.experiments.catalogue import DEFAULT_PROFILE
from labkit.experiments.factorial import FACTORIAL_ARMS, FACTORIAL_RECORDINGS, FactorialAsked, drawn_seed
from labkit.experiments.serving import Served, StaticProvider
from labkit.experiments.words import asked_in_words, asked_of, replayed_in_words
from labkit.traffic.recording import named, shipped

ALL = FACTORIAL_ARMS


def order(**more: object) -> list[tuple[str, int]]:
    question = FactorialAsked(profile=DEFAULT_PROFILE, seed=more.pop("seed", 7), **more)
    return [(block.arm.label, block.repeat) for block in question.blocks()]


def test_every_repeat_holds_every_arm_once_and_the_first_comes_once_more_at_the_end():
    blocks = order(repeats=3)
    assert len(blocks) == 25
    for repeat in range(3):
        assert {arm for arm, at in blocks if at == repeat} == set(ALL)
        assert [at for _, at in blocks[repeat * 8 : repeat * 8 + 8]] == [repeat] * 8
    assert blocks[-1] == (blocks[0][0], 3)
    assert len(order(repeats=3, drift_check=False)) == 24


def test_the_order_comes_from_the_seed_alone():
    assert order(seed=5) == order(seed=5) == order(seed=5, arms=tuple(reversed(ALL)))
    orders = {tuple(order(seed=seed)) for seed in range(20)}
    assert len(orders) > 15
    firsts = {order(seed=seed)[0][0] for seed in range(60)}
    assert firsts == set(ALL)
    assert 0 <= drawn_seed() < 1_000_000
    assert len({drawn_seed() for _ in range(10)}) > 1


def test_the_default_recordings_are_one_of_each_task_and_the_models_own_where_there_is_one():
    headers = {name: named(name).header for name in shipped()}
    chosen = [headers[name] for name in FACTORIAL_RECORDINGS]
    tasks = [header.task for header in chosen]
    assert len(set(tasks)) == len(tasks) >= 5  # fewer tasks have no interval to be believed
    by_model = {header.task for header in headers.values() if header.decided_by != "scripted"}
    for header in chosen:
        assert (header.decided_by != "scripted") == (header.task in by_model)


def test_a_wrong_question_is_refused_before_anything_starts(tmp_path: Path):
    (source,) = saved(tmp_path, "one")
    for wrong, field in (
        (asked((source, source), "base"), "recordings"),
        (asked((source,), "base", "base"), "arms"),
        (asked((source,), "base", repeats=0), "repeats"),
        (asked((source,), "base", steps=-1), "steps"),
    ):
        with pytest.raises(BadInput) as error:
            wrong.design()
        assert error.value.field == field
    with pytest.raises(BadInput, match="recordings"):
        recordings_of(" , ")


def test_a_factorial_is_said_as_the_command_that_asks_for_it():
    question = FactorialAsked(profile=DEFAULT_PROFILE, seed=3, arms=("base", "prefix"), steps=0, drift_check=False)
    said = asked_in_words("factorial", question.to_dict())
    assert said == "labkit run factorial --arms base,prefix --steps 0 --seed 3 --no-drift-check"
    kept = json.loads(json.dumps(question.to_dict()))
    assert asked_of("factorial", kept) == question
    replayed = replayed_in_words("factorial", {**kept, "recordings": ["one", "two"], "warm": True})
    assert replayed.startswith("one, two: natural replay, recorded history")
    assert "each pass cold, then warm" in replayed
    assert "seed 3" in replayed


async def test_every_arm_gets_the_same_requests_but_for_the_salt(tmp_path: Path):
    recordings = saved(tmp_path, "one", "two")
    sent: dict[str, list[str]] = {}
    async with FakeEngine(FakeDials()) as engine:
        for arm in ("base", "pd", "all"):  # one run each, so that what an arm was sent can be told apart
            before = len(engine.received)
            await run(asked(recordings, arm), static({arm: engine.base_url}), tmp_path / "runs")
            bodies = engine.received[before:]
            sent[arm] = [json.dumps({**body, "cache_salt": None}, sort_keys=True) for body in bodies]
    assert len(sent["base"]) == 2 + 6  # the warm-up, and both recordings
    assert sent["base"] == sent["pd"] == sent["all"]


async def test_the_run_keeps_seed_order_and_every_pass(tmp_path: Path):
    recordings = saved(tmp_path, "one", "two")
    async with FakeEngine(FakeDials()) as engine:
        question = asked(recordings, *ALL, steps=1, seed=3, drift_check=True)
        done = await run(question, static(dict.fromkeys(ALL, engine.base_url)), tmp_path / "runs")
    assert done.info.state == "done", done.info.note
    assert done.info.asked["seed"] == 3
    begun, ended = of(done, "pass_start"), of(done, "pass_done")
    assert [(event["arm"], event["repeat"]) for event in begun[::2]] == [
        (block.arm.label, block.repeat) for block in question.blocks()
    ]
    assert [(event["block"], event["pass"], event["recording"]) for event in ended] == [
        (block, place, name) for block in range(9) for place, name in enumerate(("one", "two"))
    ]
    assert {(event["measured"], event["failed"], event["cache"]) for event in ended} == {(1, 0, "cold")}
    assert set(done.info.fingerprint["recordings"]) == {"one", "two"}
    drift = begun[-1]
    assert (drift["arm"], drift["repeat"]) == (begun[0]["arm"], 1)


async def test_a_warm_pass_finds_what_the_cold_one_left_and_in_an_arm_without_caching_nothing(tmp_path: Path):
    recordings = saved(tmp_path, "one", "two")
    async with FakeEngine(FakeDials(block_size=16)) as engine:
        urls = {"base": engine.base_url, "prefix": engine.base_url}
        done = await run(asked(recordings, *urls, warm=True), static(urls), tmp_path / "runs")
    steps = measured(done)
    passes = [(event["recording"], event["cache"]) for event in of(done, "pass_done")]
    assert passes == [("one", "cold"), ("one", "warm"), ("two", "cold"), ("two", "warm")] * 2
    firsts = steps[steps["turn"] == 1].set_index(["arm", "recording", "cache"])["cached_tokens"]
    for name in ("one", "two"):
        assert firsts["prefix", name, "cold"] == 0
        assert firsts["prefix", name, "warm"] == 80  # the first prompt but its last, partial block
        assert firsts["base", name, "warm"] == 0
    base = steps[steps["arm"] == "base"]
    assert (base["cached_tokens"] == 0).all()
    warm = steps[(steps["arm"] == "prefix") & (steps["cache"] == "warm")]
    assert (warm["cached_tokens"] == warm["ceiling_tokens"]).all()


async def test_a_server_without_caching_finds_nothing_in_a_warm_pass_either(tmp_path: Path):
    recordings = saved(tmp_path, "one")
    async with FakeEngine(FakeDials(prefix_caching=False)) as off, FakeEngine(FakeDials()) as on:
        provider = StaticProvider({"base": off.base_url, "prefix": on.base_url}, "fake", 16, salted=False)
        done = await run(asked(recordings, "base", "prefix", warm=True, strict=True), provider, tmp_path / "runs")
    steps = measured(done)
    assert set(steps["switched_by"]) == {"flag"}
    warm = steps[steps["cache"] == "warm"].set_index("arm")["cached_tokens"]
    assert (warm["base"].fillna(0) == 0).all()
    assert (warm["prefix"] > 0).all()


class Refusing(StaticProvider):
    """Engines of which that of `pd` is refused, in words of its own."""

    async def serve(self, arm, on_progress=lambda _: None, spec_method=None) -> Served:
        if arm.pd_split:
            raise EngineNotReady("No module named nixl", "Install it.")
        return await super().serve(arm, on_progress)


async def test_a_refused_arm_is_left_out_openly_and_its_later_blocks_are_skipped(tmp_path: Path):
    recordings = saved(tmp_path, "one", "two")
    async with FakeEngine(FakeDials()) as engine:
        provider = Refusing(dict.fromkeys(ALL, engine.base_url), "fake", 16)
        question = asked(recordings, "base", "prefix", "pd", repeats=2, seed=2, drift_check=True)
        done = await run(question, provider, tmp_path / "runs")
    assert done.info.state == "partial"
    assert "pd not measured: No module named nixl" in done.info.note
    assert len(of(done, "refused")) == 1
    assert set(measured(done)["arm"]) == {"base", "prefix"}
    last = of(done, "progress")[-1]
    assert last["done"] == last["total"]
