"""What a node notes arrives in the run at its own moment, with its node, and marked where the node was lost."""

from pathlib import Path

import pytest
from builders import a_step

from labkit.core.clock import FakeClock
from labkit.core.errors import BadInput
from labkit.core.records import SampleRecord
from labkit.experiments.spread.relayed import Line, RelayWriter
from labkit.store.runs import RunStore, RunWriter


@pytest.fixture
def run(tmp_path: Path) -> RunWriter:
    with RunStore(tmp_path / "runs", FakeClock(50.0)).create("factorial", {}, {}) as writer:
        yield writer


def node(run: RunWriter, folder: Path, name: str = "node-1", now: float = 1000.0) -> tuple[RelayWriter, list[Line]]:
    lines: list[Line] = []
    return RelayWriter(name, run.id, folder, FakeClock(now), 990.0, lines.append), lines


def relay(run: RunWriter, lines: list[Line]) -> None:
    for line in lines:
        run.relayed(line["t"], line["type"], {key: value for key, value in line.items() if key not in ("t", "type")})


def test_an_event_keeps_its_moment_and_gets_its_node(run: RunWriter, tmp_path: Path):
    there, lines = node(run, tmp_path)
    there.event("serving", engine="node-1/e", arm="base")
    there.event("counters", arm="base")
    relay(run, lines)
    _, serving, counters = RunStore(run.folder.parent).open(run.id).events()
    assert (serving["t"], serving["node"]) == (10.0, "node-1")  # the run's own clock stands at 0
    assert counters["engine"] == "node-1/e"


def test_samples_say_their_node_once(run: RunWriter, tmp_path: Path):
    there, lines = node(run, tmp_path)
    for source in ("host", "node-1/e/engine"):
        there.samples([SampleRecord(run=run.id, t=1.0, source=source, name="x", unit="", value=1.0)])
    relay(run, lines)
    samples = RunStore(run.folder.parent).open(run.id).samples()
    assert list(samples["source"]) == ["node-1/host", "node-1/e/engine"]


def test_no_secret_leaves_the_node(run: RunWriter, tmp_path: Path):
    there, lines = node(run, tmp_path)
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    row = a_step(run=run.id, engine="node-1/e", error=f"Authorization: Bearer {secret}")
    there.step(row, texts={"reply": {"content": f"api_key={secret}"}})
    assert secret not in repr(lines)


def test_how_a_run_begins_and_ends_is_not_a_nodes_to_say(run: RunWriter):
    for own in ("run", "finish", "resume", "void"):
        with pytest.raises(BadInput):
            run.relayed(1.0, own, {})


def test_what_a_lost_node_sent_is_marked_and_what_another_sent_meanwhile_is_not(run: RunWriter, tmp_path: Path):
    for name in ("node-1", "node-10"):
        there, lines = node(run, tmp_path, name)
        there.step(a_step(run=run.id, arm="base", engine=f"{name}/e", t_send=1.0))
        relay(run, lines)
    run.void("base", 0.0, 5.0, node="node-1")
    steps = RunStore(run.folder.parent).open(run.id).steps()
    assert dict(zip(steps["engine"], steps["warmup"], strict=True)) == {"node-1/e": True, "node-10/e": False}
