"""`labkit run` as a process: what it prints, how it exits, and what signals leave behind. Engines are fakes."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from labkit.core.chat import Usage
from labkit.core.errors import BadInput, UnknownName
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.engines.process import is_alive
from labkit.experiments import jobs
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

SLOW = FakeDials(ttft_s=0.3)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))


@pytest.fixture
def source(tmp_path: Path) -> str:
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"look at {turn} " * 20}],
            reply={"role": "assistant", "content": "ok"},
            request={"max_tokens": 3},
            usage=Usage(completion_tokens=3),
        )
        for turn in range(1, 9)
    )
    header = RecordingHeader(name="eight", task="t", decided_by="scripted", model="fake", tools=[])
    return str(save(Recording(header=header, steps=steps), tmp_path / "eight.jsonl"))


def attach(**urls: str) -> list[str]:
    pairs = [f"{arm}={url}" for arm, url in urls.items()] + ["model=fake", "block_size=16"]
    return [word for pair in pairs for word in ("--attach", pair)]


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


async def run_with_steps(count: int) -> Run:
    """The newest run, once it has so many timed steps."""
    async with asyncio.timeout(30):
        while True:
            runs = RunStore().runs()
            if runs and (~runs[0].steps()["warmup"]).sum() >= count:
                return runs[0]
            await asyncio.sleep(0.05)


async def test_a_run_prints_its_table_and_one_line_of_json(source: str):
    async with FakeEngine(FakeDials()) as engine:
        words = ("run", "quick", "--recording", source, "--steps", "3", "--arms", "base,prefix", "--json")
        async with labkit(*words, *attach(base=engine.base_url, prefix=engine.base_url)) as process:
            out, err = (text.decode() for text in await process.communicate())
    assert process.returncode == 0, err
    said = json.loads(out.splitlines()[-1])
    assert said["state"] == "done"
    assert [arm["arm"] for arm in said["arms"]] == ["base", "prefix"]
    assert said["arms"][0]["n_steps"] == 3
    assert Run(Path(said["folder"])).info.asked["steps"] == 3
    for words in ("salt", "flag", said["folder"], "make app", "make lab", "measuring prefix"):
        assert words in err


async def test_an_arm_that_cannot_be_measured_makes_the_run_partial(source: str):
    async with FakeEngine(FakeDials()) as engine:
        words = ("replay", source, "--arms", "base,pd")
        async with labkit(*words, *attach(base=engine.base_url, pd="http://127.0.0.1:9")) as process:
            out, _ = await process.communicate()
    assert process.returncode == 3
    assert "pd not measured: all 3 requests failed" in " ".join(out.decode().split())


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
async def test_a_signal_cancels_the_request_and_keeps_what_was_measured(source: str, number: int, status: int):
    async with FakeEngine(SLOW) as engine:
        words = ("run", "quick", "--recording", source, "--arms", "base", "--json")
        async with labkit(*words, *attach(base=engine.base_url)) as process:
            run = await run_with_steps(2)
            process.send_signal(number)
            out, err = (text.decode() for text in await process.communicate())
        await asyncio.sleep(0.1)
        assert engine.running == 0
    assert process.returncode == status, err
    assert run.info.state == "cancelled"
    assert json.loads(out.splitlines()[-1])["state"] == "cancelled"
    assert "the run so far is kept" in err
    assert "Traceback" not in err


async def test_a_kill_leaves_a_folder_that_opens_as_partial(source: str):
    async with (
        FakeEngine(SLOW) as engine,
        labkit("replay", source, "--arms", "base", *attach(base=engine.base_url)) as process,
    ):
        run = await run_with_steps(2)
        process.kill()
        await process.communicate()
    assert run.info.state == "partial"
    assert (~run.steps()["warmup"]).sum() >= 2


async def test_the_catalogue_is_listed():
    async with labkit("run") as process:
        out, _ = await process.communicate()
    assert "labkit run quick" in out.decode()
    assert process.returncode == 0


async def until(job_id: str, *states: str) -> jobs.JobStatus:
    for _ in range(600):
        if (now := jobs.status(job_id)).state in states:
            return now
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{now.state}: {now.log_tail}")


async def test_a_job_runs_to_its_end_and_says_so(source: str):
    async with FakeEngine(FakeDials()) as engine:
        job = jobs.start("quick", {"recording": source, "arms": ("base",), "steps": 2}, attach(base=engine.base_url))
        assert jobs.status(job.id).state in ("starting", "running")
        ended = await until(job.id, "done", "failed")
    assert ended.state == "done", ended.log_tail
    assert ended.run is not None
    assert ended.run.info.asked["job"] == job.id
    assert [known.id for known in jobs.jobs()] == [job.id]


async def test_a_job_is_cancelled_as_by_ctrl_c(source: str):
    async with FakeEngine(SLOW) as engine:
        job = jobs.start("replay", {"recording": source, "arms": ("base",)}, attach(base=engine.base_url))
        await run_with_steps(1)
        assert jobs.status(job.id).state == "running"
        ended = await asyncio.to_thread(jobs.cancel, job.id, 20)
    assert ended.state == "cancelled"
    assert not is_alive(job.process)
    assert jobs.cancel(job.id).state == "cancelled"


async def test_a_job_that_never_made_a_run_says_why(tmp_path: Path):
    job = jobs.start("quick", {"recording": "no-such-recording"})
    ended = await until(job.id, "failed", "done")
    assert ended.state == "failed"
    assert "no-such-recording" in "\n".join(ended.log_tail)


def test_a_job_is_asked_only_what_its_experiment_takes():
    with pytest.raises(BadInput, match="repeats"):
        jobs.start("quick", {"repeats": 2})
    with pytest.raises(UnknownName):
        jobs.start("quikc", {})
    with pytest.raises(UnknownName):
        jobs.status("nobody")
