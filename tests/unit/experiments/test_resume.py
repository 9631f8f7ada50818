"""A factorial that is killed goes on: what is done is not sent again, what was half done counts no more."""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import fake_vllm
import pyarrow.parquet as pq
import pytest
from factorials import asked, measured, of, run, saved, static
from typer.testing import CliRunner

from labkit.cli import build
from labkit.cli.notes import notes
from labkit.core.errors import BadInput, EngineDied, LabError
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.engines.fleet import Fleet
from labkit.experiments.resume import resume_design
from labkit.experiments.serving import Served, StaticProvider
from labkit.experiments.so_far import before
from labkit.experiments.view import view
from labkit.store.runs import Run, RunStore

SLOW = FakeDials(ttft_s=0.2)
ARMS = ("base", "prefix")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))


@asynccontextmanager
async def labkit(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "labkit", *words, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def attach(engine: FakeEngine, *arms: str) -> list[str]:
    pairs = [f"{arm}={engine.base_url}" for arm in arms] + ["model=fake", "block_size=16"]
    return [word for pair in pairs for word in ("--attach", pair)]


async def run_with(passes: int, steps: int) -> Run:
    """The newest run, once so many passes are done and the next has so many steps."""
    async with asyncio.timeout(60):
        while True:
            runs = RunStore().runs()
            if runs and len(of(runs[0], "pass_done")) == passes and len(_since_last_start(runs[0])) >= steps:
                return runs[0]
            await asyncio.sleep(0.02)


def _since_last_start(opened: Run) -> list[dict]:
    kinds = [event["type"] for event in opened.events()]
    last = len(kinds) - 1 - kinds[::-1].index("pass_start") if "pass_start" in kinds else len(kinds)
    return [event for event in opened.events()[last:] if event["type"] == "step"]


def sent(engine: FakeEngine) -> Counter[tuple[str, int, bool]]:
    """How often each request came: recording, turn, and whether under a salt of its own (an arm without caching)."""
    found: Counter[tuple[str, int, bool]] = Counter()
    for body in engine.received:
        words = body["messages"][0]["content"].split()
        if words[0] in ("one", "two"):
            turn = sum(message["role"] == "user" for message in body["messages"])
            found[words[0], turn, "-" in body["cache_salt"]] += 1
    return found


async def test_after_kill_9_only_what_was_not_done_is_sent(tmp_path: Path):
    one, two = saved(tmp_path, "one", "two", steps=4)
    order = ["--repeats", "1", "--arms", ",".join(ARMS), "--seed", "4", "--no-drift-check"]
    words = ["--recordings", f"{one},{two}", "--steps", "0", *order]
    async with FakeEngine(SLOW) as engine:
        async with labkit("run", "factorial", *words, *attach(engine, *ARMS)) as process:
            killed = await run_with(passes=1, steps=2)
            process.kill()
            await process.communicate()
        assert killed.info.state == "partial"
        first = of(killed, "pass_start")[0]["arm"]
        once, again = ("base", "prefix") if first == "base" else ("prefix", "base")
        before_it = sent(engine)
        async with labkit("run", "factorial", "--resume", killed.id, "--json", *attach(engine, *ARMS)) as process:
            out, err = (text.decode() for text in await process.communicate())
        assert process.returncode == 0, err
        after = sent(engine)

    salted = {"base": True, "prefix": False}
    for turn in range(1, 5):
        assert after["one", turn, salted[once]] == 1  # finished before the kill: not sent again
        assert after["two", turn, salted[once]] == 1 + before_it["two", turn, salted[once]]  # half done: sent again
        assert after["one", turn, salted[again]] == after["two", turn, salted[again]] == 1
    assert before_it["two", 1, salted[once]] == 1

    done = RunStore().open(killed.id)
    assert done.info.state == "done"
    assert json.loads(out.splitlines()[-1])["run"] == killed.id
    assert "went on later" in done.info.note
    assert "2: it was cut short and resumed" in (done.folder / "report.html").read_text()
    assert [(e["block"], e["pass"]) for e in of(done, "pass_done")] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert done.info.asked == killed.info.asked
    _check_tables(done, once)
    for said in ("12 steps in 2 blocks", "Report:", "verdict"):
        assert said in err


def _check_tables(done: Run, once: str) -> None:
    """Each request counts once; the half pass is there and thrown away; times never go back; Parquet says the same."""
    steps, chunks = measured(done), done.chunks()
    keys = ["arm", "recording", "repeat", "turn"]
    assert len(steps) == 16
    assert not steps.duplicated(keys).any()
    assert not chunks[~chunks["warmup"]].duplicated([*keys, "index"]).any()
    (void,) = of(done, "void")
    assert (void["arm"], void["recording"]) == (once, "two")
    thrown = done.steps()[done.steps()["warmup"] & (done.steps()["recording"] == "two")]
    assert 2 <= len(thrown) <= 3
    assert set(thrown["arm"]) == {once}
    assert done.steps()["t_send"].is_monotonic_increasing
    assert steps[steps["recording"] == "two"]["t_send"].min() > void["t_to"]
    table = pq.read_table(done.folder / "steps.parquet").to_pandas()
    assert table["warmup"].tolist() == done.steps()["warmup"].tolist()
    assert (~table["warmup"]).sum() == 16
    assert done.problems() == []


def test_a_run_that_goes_on_or_is_done_is_not_resumed(tmp_path: Path):
    question = asked(saved(tmp_path, "one"), "base")
    writer = RunStore().create("factorial", question.to_dict(), {})
    words = ["run", "factorial", "--resume", writer.id, "--attach", "base=http://127.0.0.1:9"]
    with pytest.raises(LabError, match="still goes on"):
        CliRunner().invoke(build(), words, catch_exceptions=False)
    writer.finish("done")
    with pytest.raises(BadInput) as error:
        CliRunner().invoke(build(), words, catch_exceptions=False)
    assert "This one is done" in error.value.hint
    assert RunStore().open(writer.id).info.state == "done"


def test_resume_takes_no_other_option_and_only_a_factorial():
    for words in (["--steps", "3"], ["--arms", "base"], ["--no-drift-check"]):
        result = CliRunner().invoke(build(), ["run", "factorial", "--resume", "latest", *words])
        assert isinstance(result.exception, BadInput)
        assert result.exception.field == words[0].replace("--no-", "--")
    with RunStore().create("quick", {"profile": "cpu-smollm2", "recording": "r", "arms": ["base"]}, {}):
        pass
    with pytest.raises(BadInput, match="factorial"):
        CliRunner().invoke(build(), ["run", "factorial", "--resume", "latest"], catch_exceptions=False)


class Dying(StaticProvider):
    """The engine of `prefix` is found dead after its first failed request, for as long as `dead`."""

    dead = True

    def check(self, served: Served) -> None:
        if self.dead and served.switched_by == "flag":
            raise EngineDied("engine ended while it was measured", "", ("Killed",))


async def test_an_arm_that_was_lost_is_tried_again_and_other_arms_are_not(tmp_path: Path):
    recordings, store = saved(tmp_path, "one", "two"), RunStore()
    async with FakeEngine(FakeDials()) as engine, FakeEngine(FakeDials()) as other:
        urls = {"base": engine.base_url, "prefix": "http://127.0.0.1:9"}
        question = asked(recordings, *ARMS)
        partial = await run(question, Dying(urls, "fake", 16), store.root)
        assert partial.info.state == "partial"
        assert view(partial).died.keys() == {"prefix"}
        assert "prefix not measured: engine ended while it was measured." in notes(partial)
        served_base = len(engine.received)
        provider = static({"base": engine.base_url, "prefix": other.base_url})
        design = question.design()
        with pytest.raises(LabError, match=r"engines\.prefix was http://127\.0\.0\.1:9 and is"):
            await resume_design(partial, design, provider, store=store)
        assert store.open(partial.id).info.state == "partial"
        done = await resume_design(partial, design, provider, store=store, anyway=True)
        assert len(engine.received) == served_base
    assert done.info.state == "done", done.info.note
    assert "on something else than it began on: engines.prefix was" in done.info.note
    steps = measured(done)
    assert steps.groupby("arm").size().to_dict() == {"base": 6, "prefix": 6}
    assert steps["error"].isna().all()  # what failed when the engine died belongs to a pass that is void
    assert done.steps()["error"].notna().sum() >= 1
    assert (view(done).died, view(done).refused) == ({}, {})
    assert not any("engine ended" in line for line in notes(done))


async def test_recordings_that_changed_are_noticed(tmp_path: Path):
    recordings, store = saved(tmp_path, "one"), RunStore()
    async with FakeEngine(FakeDials()) as engine:
        urls = {"base": engine.base_url, "prefix": "http://127.0.0.1:9"}
        question = asked(recordings, *ARMS)
        partial = await run(question, static(urls), store.root)
        assert saved(tmp_path, "one", steps=5) == recordings
        with pytest.raises(LabError, match=r"recordings\.one was"):
            await resume_design(partial, question.design(), static(urls), store=store)


async def test_a_warm_pass_that_is_left_gets_its_cold_one_once_more_thrown_away(tmp_path: Path):
    recordings, store = saved(tmp_path, "one"), RunStore()
    question = asked(recordings, "prefix", warm=True)
    async with FakeEngine(FakeDials(ttft_s=0.1)) as engine:
        provider = static({"prefix": engine.base_url})
        work = asyncio.ensure_future(run(question, provider, store.root))
        cut = await run_with(passes=1, steps=1)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert cut.info.state == "cancelled"
        done = await resume_design(store.open(cut.id), question.design(), provider, store=store)
    steps = measured(done)
    assert steps.groupby("cache").size().to_dict() == {"cold": 3, "warm": 3}
    warm = steps[steps["cache"] == "warm"]
    assert (warm["cached_tokens"] == warm["ceiling_tokens"]).all()
    assert (warm["cached_tokens"] > 0).all()
    assert [(e["recording"], e["cache"]) for e in of(done, "pass_done")] == [("one", "cold"), ("one", "warm")]


async def test_engines_that_the_killed_run_left_up_are_ended_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    profile, path = fake_vllm.install(tmp_path / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    recordings = ",".join(saved(tmp_path, "one", steps=20))
    words = ("--profile", str(profile), "--recordings", recordings, "--steps", "0", "--arms", "base,prefix")
    fleet = Fleet()
    try:
        async with labkit("run", "factorial", *words, "--repeats", "1", "--no-drift-check", "--seed", "1") as process:
            killed = await run_with(passes=0, steps=1)
            process.kill()
            await process.communicate()
        (left,) = fleet.ps()
        assert left.alive
        async with labkit("run", "factorial", "--resume", killed.id) as process:
            out, err = (text.decode() for text in await process.communicate())
    finally:
        still_up = fleet.down()
    assert process.returncode == 0, out + err
    assert still_up == []
    done = RunStore().open(killed.id)
    engines = [event["engine"] for event in of(done, "serving")]
    assert engines[0] == left.id
    assert left.id not in engines[1:]
    assert all(event["neighbours"] == [] for event in of(done, "serving"))
    assert len(measured(done)) == 40


def test_what_is_done_is_read_from_the_events():
    def passed(kind: str, t: float, place: int, **more: object) -> dict:
        about = {"block": 0, "pass": place, "arm": "base", "label": "base", "repeat": 0, "recording": "r"}
        return {"type": kind, "t": t, **about, "condition": "", "cache": "cold", **more}

    events = [
        passed("pass_start", 1, 0),
        passed("pass_done", 2, 0, measured=3, failed=1),
        passed("pass_start", 3, 1),
        {"type": "bystanders", "t": 3.5, "arm": "base", "label": "base", "repeat": 0, "cores": 0.7},
    ]
    found = before(events)
    assert found.done == {(0, 0)}
    assert [(half["t"], half["t_to"]) for half in found.half] == [(3, None)]
    assert found.tally.of("base") == (3, 1)
    assert found.tally.disturbed == {"base": 0.7}
    events += [{"type": "resume", "t": 9}, {"type": "void", "t": 9, "arm": "base", "t_from": 3, "t_to": 9}]
    assert before(events).half == []
    events += [passed("pass_start", 10, 1), {"type": "engine_died", "t": 11, "arm": "base"}]
    events += [passed("pass_start", 12, 2)]
    assert [(half["t"], half["t_to"]) for half in before(events).half] == [(10, 11), (12, None)]
