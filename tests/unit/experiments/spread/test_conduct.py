"""A spread run with workers in this process: one folder, nodes on every row, and what becomes of a lost repeat."""

import json
from pathlib import Path

import pytest
from factorials import asked, measured, of, saved
from spread_fakes import Fakes, InProcess, NotedClock

from labkit.analysis.counter_events import counters
from labkit.core.errors import BadInput
from labkit.experiments.report import write_report
from labkit.experiments.resume import refuse
from labkit.experiments.spread.conduct import run_with
from labkit.experiments.words import asked_in_words
from labkit.store.runs import Run, RunStore

NODES = ("node-1", "node-2")
PLAIN = Fakes()
AHEAD = {"node-1": 1234.5, "node-2": -777.25}


async def spread(folder: Path, recipe: Fakes = PLAIN, retries: int = 2, clock=None, lost=None, **more) -> Run:
    question = asked(saved(folder, "one", "two", steps=2), "base", "prefix", **{"repeats": 3, **more})
    design = question.design()
    workers = InProcess(NODES, design, recipe, AHEAD, **(lost or {}))
    return await run_with(
        workers, "factorial", question, design, retries=retries, store=RunStore(folder / "runs", clock), clock=clock
    )


def node_of(rows):
    return rows["engine"].str.split("/").str[0]


async def test_one_folder_holds_the_rows_of_both_nodes_paired_within_each(tmp_path: Path):
    clock = NotedClock()
    run = await spread(tmp_path, Fakes(slow={"node-2": 0.1}, per_token_s=0.002), clock=clock, drift_check=True)
    assert run.info.state == "done", run.info.note
    rows = measured(run)
    rows["node"] = node_of(rows)
    assert len(rows) == 3 * 2 * 4 + 4
    assert rows.groupby("repeat")["node"].unique().map(list).to_dict() == {
        0: ["node-1"],
        1: ["node-2"],
        2: ["node-1"],
        3: ["node-1"],  # drift is seen against the first repeat, so on its node
    }
    assert "node-1 measured repeats 1, 3; node-2 measured repeat 2" in run.info.note
    saved_s = paired(rows[rows["repeat"] < 3])
    cached = rows[(rows["arm"] == "prefix") & (rows["turn"] == 2)]["cached_tokens"].mean()
    assert cached == 80
    for node in NODES:  # 0.1 s between the nodes, and the same gain on each
        assert saved_s[node] == pytest.approx(cached * 0.002, abs=0.06)


def paired(rows):
    """Seconds to the first token that prefix caching saves at turn 2, by node, over pairs within a repeat."""
    rows = rows[rows["turn"] == 2].assign(ttft=rows["t_first_token"] - rows["t_send"])
    wide = rows.pivot_table(index=["node", "repeat", "recording"], columns="arm", values="ttft")
    return (wide["base"] - wide["prefix"]).groupby("node").mean()


async def test_the_clocks_of_nodes_are_put_on_the_runs(tmp_path: Path):
    clock = NotedClock()
    run = await spread(tmp_path, clock=clock)
    told = of(run, "node_clock")
    assert [(each["node"], each["when"]) for each in told if each["repeat"] == 1] == [
        ("node-2", "before"),
        ("node-2", "after"),
    ]
    for each in told:
        assert abs(each["offset_s"] - AHEAD[each["node"]]) <= each["uncertainty_s"] + 1e-9
    for event in of(run, "serving"):
        true = event["plan"]["monotonic"] - clock.first
        assert event["t"] == pytest.approx(true, abs=0.2)  # without the offset it would be off by minutes
        assert event["engine"].startswith(event["node"] + "/")
    assert "the clock of" not in run.info.note


async def test_telemetry_counters_and_fingerprint_say_their_node(tmp_path: Path):
    run = await spread(tmp_path)
    sources = {source.rsplit("/", 1)[0].split("/")[0] for source in run.samples()["source"]}
    assert sources == set(NODES)
    assert {f"{node}/host" for node in NODES} <= set(run.samples()["source"])
    assert all(event["engine"].startswith(event["node"] + "/") for event in of(run, "counters"))
    nodes = run.info.fingerprint["nodes"]
    assert {name: facts["gpu"] for name, facts in nodes.items()} == {"node-1": "of node-1", "node-2": "of node-2"}
    assert "node-2 is not like node-1: gpu is of node-2 and there of node-1" in run.info.note
    with pytest.raises(BadInput, match="spread over a cluster"):
        refuse(Run(cut_short(run)))


def cut_short(run: Run) -> Path:
    path = run.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "state": "partial"}))
    return run.folder


async def test_a_spread_run_is_reported_as_any_other(tmp_path: Path):
    """The fingerprint's parts, the blocks' engines and the samples' sources are read by pages that know of no node."""
    run = await spread(tmp_path, drift_check=True, repeats=2)
    page = write_report(run).read_text()
    assert "node-1 measured repeat 1; node-2 measured repeat 2" in page
    assert asked_in_words("factorial", run.info.asked, run.info.fingerprint).endswith(" --ray auto")
    assert " --ray auto" in page


async def test_the_repeat_of_a_lost_node_is_made_whole_on_another(tmp_path: Path):
    run = await spread(tmp_path, lost={"node_2": 25})
    assert run.info.state == "done", run.info.note
    assert "node-2 was lost (as planted) during repeat 2" in run.info.note
    steps = run.steps()
    begun = steps[node_of(steps) == "node-2"]
    assert len(begun) > 3  # of its warm-up and its first pass
    assert begun["warmup"].all()
    rows = measured(run)
    assert set(node_of(rows)) == {"node-1"}
    assert rows.groupby(["repeat", "arm"]).size().unique().tolist() == [4]
    assert "node-2" in {event["node"] for event in of(run, "counters")}  # it had ended a pass
    counted = counters(run.events())
    assert {event["node"] for event in counted} == {"node-1"}
    assert len(counted) == 3 * 2 * 2  # repeats, arms, recordings


async def test_without_retries_the_lost_repeat_is_named_and_the_run_is_partial(tmp_path: Path):
    run = await spread(tmp_path, retries=0, lost={"node_2": 25}, repeats=2)
    assert run.info.state == "partial"
    assert "ended early: repeat 2 (" in run.info.note
    assert "was not measured: node-2 was lost (as planted)" in run.info.note
    assert set(measured(run)["repeat"]) == {0}


async def test_no_node_left_fails_the_run(tmp_path: Path):
    run = await spread(tmp_path, lost={"node_1": 2, "node_2": 2}, repeats=2)
    assert run.info.state == "failed"
    assert "no node is left" in run.info.note
    assert not len(measured(run))


async def test_an_arm_that_one_node_refuses_is_said_with_the_node(tmp_path: Path):
    run = await spread(tmp_path, Fakes(refuses={"node-2": "prefix"}))
    assert run.info.state == "partial"
    assert "prefix ended early: on node-2: the fake of node-2 refuses prefix" in run.info.note
    assert "prefix was measured on node-1 alone" in run.info.note
