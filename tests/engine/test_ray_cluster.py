"""A real Ray cluster of two nodes on this machine: spread, one clock, a node that is killed, and what Ctrl-C leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import spread_fakes
from factorials import asked, measured, of, saved
from spread_fakes import Fakes, NotedClock, Shifted, until

from labkit.core.progress import Progress
from labkit.experiments.spread.cluster import connected
from labkit.experiments.spread.conduct import run_spread
from labkit.experiments.spread.nodes import Node
from labkit.experiments.spread.ray_import import ray_module
from labkit.store.runs import Run, RunStore

pytestmark = pytest.mark.engine
AHEAD = {"one": 4321.5, "two": -987.25}
SMALL = {"num_cpus": 2, "object_store_memory": 80 * 2**20}


class TwoNodes:
    """`nodes` as labkit found them; `kill` ends the second one's raylet, and with it its workers."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"node_name": "one", "include_dashboard": False, "dashboard_agent_listen_port": None, **SMALL}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._second = self._cluster.add_node(node_name="two", **SMALL)
        self.address: str = self._cluster.address
        self.nodes: tuple[Node, ...] = ()

    def kill(self) -> None:
        (raylet,) = self._second.all_processes["raylet"]
        os.kill(raylet.process.pid, signal.SIGKILL)

    def end(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoNodes]:
    """One for all tests of the module, since it takes its time to start; the last test breaks it."""
    ray = ray_module()
    ray.cloudpickle.register_pickle_by_value(sys.modules[spread_fakes.__name__])  # nodes have labkit, not its tests
    with own_folder():
        cluster = TwoNodes()
        try:
            with connected(cluster.address) as cluster.nodes:
                yield cluster
        finally:
            cluster.end()


@contextmanager
def own_folder() -> Iterator[None]:
    """Ray's sessions, and the address that it leaves for `auto`, here and not where the machine's own Ray has them.

    Short: the names of sockets must be, and pytest's folders are not.
    """
    there = tempfile.TemporaryDirectory(prefix="lr-", dir="/tmp", ignore_cleanup_errors=True)
    with there as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        for name in ("RAY_ADDRESS", "RAY_GCS_SERVER_PORT"):
            patch.delenv(name, raising=False)
        yield


async def spread(cluster: TwoNodes, folder: Path, recipe: Fakes, on_progress=lambda _: None, **more) -> Run:
    clock = NotedClock()
    question = asked(saved(folder, "one", "two", steps=2), "base", "prefix", **{"repeats": 2, **more})
    run = await run_spread(
        "factorial",
        question,
        question.design(),
        recipe,
        cluster.nodes,
        store=RunStore(folder / "runs", clock),
        on_progress=on_progress,
        clock=clock,
        clock_of=Shifted(AHEAD),
    )
    run.began = clock.first
    return run


def node_of(rows):
    return rows["engine"].str.split("/").str[0]


def test_the_cluster_keeps_to_a_folder_of_its_own(cluster: TwoNodes):
    own = Path(os.environ["RAY_TMPDIR"]) / "ray"
    assert (own / "ray_current_cluster").read_text() == cluster.address
    assert list(own.glob("session_2*"))
    shared = Path("/tmp/ray/ray_current_cluster")
    assert not shared.exists() or shared.read_text() != cluster.address


async def test_two_nodes_make_one_run_on_one_clock_and_the_planted_gain_is_found(cluster: TwoNodes, tmp_path: Path):
    assert [node.name for node in cluster.nodes] == ["one", "two"]
    said: list[Progress] = []
    run = await spread(cluster, tmp_path, Fakes(slow={"two": 0.3}, per_token_s=0.003), said.append)
    assert run.info.state == "done", run.info.note
    rows = measured(run)
    rows["node"] = node_of(rows)
    assert len(rows) == 2 * 2 * 4
    assert rows.groupby("repeat")["node"].unique().map(list).to_dict() == {0: ["one"], 1: ["two"]}
    second = rows[rows["turn"] == 2].assign(ttft=rows["t_first_token"] - rows["t_send"])
    times = second.pivot_table(index="node", columns="arm", values="ttft")
    assert times["base"]["two"] - times["base"]["one"] == pytest.approx(0.3, abs=0.15)  # nodes do differ
    for node in ("one", "two"):
        assert times["base"][node] - times["prefix"][node] == pytest.approx(80 * 0.003, abs=0.12)
    for told in of(run, "node_clock"):
        assert abs(told["offset_s"] - AHEAD[told["node"]]) <= told["uncertainty_s"] + 1e-9
        assert told["uncertainty_s"] < 0.2
    for event in of(run, "serving"):
        assert event["t"] == pytest.approx(event["plan"]["monotonic"] - run.began, abs=0.3)
    assert {"one/host", "two/host", "one/client", "two/client"} <= set(run.samples()["source"])
    assert {each.stage.split(":")[0] for each in said} == {"one", "two"}
    assert (said[-1].done, said[-1].total) == (16, 16)


async def test_a_run_that_is_stopped_keeps_what_it_has_and_leaves_nothing_on_a_node(cluster: TwoNodes, tmp_path: Path):
    counted: list[Progress] = []
    going = asyncio.create_task(spread(cluster, tmp_path, Fakes(slow={"one": 0.3, "two": 0.3}), counted.append))
    await until(lambda: counted and (counted[-1].done or 0) >= 3, 60)
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    (run,) = RunStore(tmp_path / "runs").runs()
    assert run.info.state == "cancelled"
    assert len(measured(run)) >= 3
    workers = {event["plan"]["pid"] for event in of(run, "serving")}
    assert len(workers) == 2
    assert {event["node"] for event in of(run, "closed")} == {"one", "two"}  # each ended its engine
    await until(lambda: not any(map(psutil.pid_exists, workers)))


async def test_the_repeat_of_a_killed_node_is_made_whole_on_the_other(cluster: TwoNodes, tmp_path: Path):
    """Last: the cluster has one node from here on. Steps are slow: a worker outlives its raylet."""
    killed: list[float] = []

    def kill_once(progress: Progress) -> None:
        if not killed and progress.stage.startswith("two: measuring"):
            killed.append(progress.done or 0)
            cluster.kill()

    run = await spread(cluster, tmp_path, Fakes(slow={"two": 2.0}), kill_once)
    assert killed
    assert run.info.state == "done", run.info.note
    assert "two was lost (" in run.info.note
    assert "during repeat 2" in run.info.note
    steps = run.steps()
    begun = steps[node_of(steps) == "two"]
    assert len(begun) >= 2
    assert begun["warmup"].all()
    rows = measured(run)
    assert set(node_of(rows)) == {"one"}
    assert rows.groupby(["repeat", "arm"]).size().to_dict() == {
        (repeat, arm): 4 for repeat in (0, 1) for arm in ("base", "prefix")
    }
