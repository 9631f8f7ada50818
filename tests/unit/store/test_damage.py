"""Kills, torn lines, full disks, damaged and newer folders. Real processes, real signals."""

import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from builders import a_step, chunks_at

from labkit.core.errors import RunUnreadable
from labkit.store.runs import RunStore

_WRITER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from builders import a_step, chunks_at
    from labkit.store.runs import RunStore
    run = RunStore(Path(sys.argv[1])).create("quick", {}, {})
    print(run.id, flush=True)
    for turn in range(int(sys.argv[2]), 10**9):
        step = a_step(run.id, turn=turn)
        run.step(step, chunks_at(step, *[1 + i / 100 for i in range(20)]))
        print(turn, flush=True)
""")


def writer_process(root: Path, first: int = 1) -> tuple[subprocess.Popen, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", _WRITER, str(root), str(first)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    return process, process.stdout.readline().strip()


def test_a_killed_run_loses_at_most_the_step_in_flight_and_a_reader_follows_it(store: RunStore):
    process, run_id = writer_process(store.root)
    opened = store.open(run_id)
    seen, after = [], 0
    while len(seen) < 200:
        events = opened.events(after)
        seen += [e["step"]["turn"] for e in events if e["type"] == "step"]
        after = events[-1]["next"] if events else after
    assert opened.live
    assert opened.info.state == "running"
    process.send_signal(signal.SIGKILL)
    told = [int(line) for line in process.stdout.read().split()]
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not opened.live, "ended, though nobody has reaped it yet"
    process.wait()
    assert seen == list(range(1, len(seen) + 1))
    turns = store.open(run_id).steps()["turn"].tolist()
    assert turns == list(range(1, len(turns) + 1))
    assert max(told) <= len(turns)
    assert len(store.open(run_id).chunks()) == 20 * len(turns)
    assert store.open(run_id).info.state == "partial"
    assert [info.state for info in store.list()] == ["partial"]
    assert sorted(p.name for p in (store.root / run_id).iterdir()) == ["events.jsonl", "logs", "run.json"]


def test_a_run_killed_before_its_first_step_failed(store: RunStore):
    process, run_id = writer_process(store.root, first=10**9)
    process.wait()
    assert store.open(run_id).info.state == "failed"


def test_a_reused_pid_is_not_the_writer(store: RunStore):
    run = store.create("quick", {}, {})
    path = run.folder / "run.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "writer": {"pid": os.getpid(), "started": psutil.boot_time() - 1e6}}))
    assert store.open(run.id).info.state == "failed"
    run.close()


def dead_run(store: RunStore, turns: int = 3) -> Path:
    run = store.create("quick", {}, {})
    for turn in range(1, turns + 1):
        step = a_step(run.id, turn=turn)
        run.step(step, chunks_at(step, 1.1))
    run.close()
    path = run.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "writer": {"pid": 2**22 + 1, "started": 0.0}}))
    return run.folder


@pytest.mark.parametrize("lost", range(1, 400, 23))
def test_a_torn_last_line_costs_one_step(store: RunStore, lost: int):
    folder = dead_run(store)
    events = folder / "events.jsonl"
    os.truncate(events, events.stat().st_size - lost)
    run = store.open(folder)
    assert run.steps()["turn"].tolist() == [1, 2]
    assert run.info.state == "partial"
    assert run.problems() == ["events.jsonl ends within a line: what was in flight is lost."]


@pytest.mark.parametrize("line", [b"\x00\xff garbage", b"[1, 2]", b'{"t": 1}', b'{"type": "step", "step": {}}'])
def test_a_damaged_line_is_skipped_and_named(store: RunStore, line: bytes):
    folder = dead_run(store)
    events = folder / "events.jsonl"
    lines = events.read_bytes().split(b"\n")
    lines[2] = line
    events.write_bytes(b"\n".join(lines))
    run = store.open(folder)
    assert run.steps()["turn"].tolist() == [1, 3]
    assert len(run.problems()) == 1
    assert "line 3 was skipped" in run.problems()[0]
    assert all(e["type"] in ("run", "step") for e in run.events())


def test_damaged_tables_are_made_again_from_the_events(store: RunStore):
    with store.create("quick", {}, {}) as run:
        run.step(a_step(run.id))
    (run.folder / "steps.parquet").write_bytes(b"PAR1 not really")
    opened = store.open(run.id)
    assert opened.steps()["turn"].tolist() == [1]
    assert opened.problems() == ["steps.parquet is missing or damaged; made from the events."]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("run.json", None, "not a run folder"),
        ("run.json", "{", "cannot be read"),
        ("run.json", "[]", "cannot be read"),
        ("run.json", '{"schema": 99}', "schema 99; this labkit reads up to 2"),
        ("run.json", '{"schema": "1"}', "no schema number"),
        ("run.json", '{"schema": 1}', "cannot be read"),
        ("events.jsonl", "", "does not start with"),
        ("events.jsonl", None, "does not start with"),
        ("events.jsonl", '{"type": "step"}\n', "does not start with"),
        ("events.jsonl", '{"type": "run", "schema": 3}\n', "schema 3; this labkit reads up to 2"),
    ],
)
def test_what_does_not_open_says_why_and_does_not_hide_the_others(
    store: RunStore, name: str, content: str | None, says: str
):
    good, bad = dead_run(store), dead_run(store)
    (bad / name).unlink()
    if content is not None:
        (bad / name).write_text(content)
    with pytest.raises(RunUnreadable, match=says):
        store.open(bad)
    assert [info.id for info in store.list()] == [good.name]
    assert set(store.unreadable()) == ({bad} if (bad / "run.json").exists() else set())


def test_a_full_disk_is_named_and_the_events_stay_whole(store: RunStore):
    """A file-size limit stands in for the full disk: the kernel refuses the write in the middle of a line."""
    program = textwrap.dedent("""
        import resource, signal, sys
        from pathlib import Path
        from builders import a_step
        from labkit.core.errors import LabError
        from labkit.store.runs import RunStore
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        run = RunStore(Path(sys.argv[1])).create("quick", {}, {})
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        try:
            for turn in range(100):
                run.step(a_step(run.id, turn=turn))
        except LabError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        run.step(a_step(run.id, turn=1000))
        run.finish("partial")
    """)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", program, str(store.root)]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert "events.jsonl cannot be written: File too large" in output
    run = store.open("latest")
    turns = run.steps()["turn"].tolist()
    assert turns == [*range(len(turns) - 1), 1000]
    assert len(turns) > 10
    assert run.problems() == []


def test_reading_a_dead_run_writes_nothing(store: RunStore):
    folder = dead_run(store)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
    time.sleep(0.01)
    store.open(folder).chunks()
    store.list()
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*")} == before


def test_a_run_killed_while_it_was_finishing_has_finished(store: RunStore):
    run = store.create("quick", {}, {})
    run.step(a_step(run.id))
    path = run.folder / "run.json"
    before = json.loads(path.read_text())
    run.finish("cancelled", "stopped by the user")
    path.write_text(json.dumps({**before, "writer": {"pid": 2**22 + 1, "started": 0.0}}))
    (run.folder / "steps.parquet").unlink()
    opened = store.open(run.id)
    assert (opened.info.state, opened.info.note) == ("cancelled", "stopped by the user")
    assert opened.steps()["turn"].tolist() == [1]
