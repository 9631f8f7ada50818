"""What of energy goes into a run: idle power, the reasons where nothing is read, and which tasks were solved."""

import asyncio
from pathlib import Path

import pandas as pd
import pytest
from builders import a_step

from labkit.analysis.energy import joules
from labkit.core.clock import FakeClock, SystemClock
from labkit.experiments.at_rest import measure_at_rest
from labkit.experiments.sampling import sampled
from labkit.experiments.solved import solved_tasks
from labkit.store.runs import Run, RunStore
from labkit.telemetry.devices import EnergySource
from labkit.telemetry.rapl import rapl_source
from labkit.telemetry.sampler import Sampler


class Heater:
    """Draws what it is told, in W; counts its energy when it has a meter."""

    name = "heater"
    wraps_at_j = None

    def __init__(self, watts: float, metered: bool) -> None:
        self._watts, self._metered = watts, metered

    def energy_j(self) -> float | None:
        return self._watts * SystemClock().now() if self._metered else None

    def power_w(self) -> float | None:
        return None if self._metered else self._watts


def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


@pytest.mark.parametrize("metered", [True, False])
async def test_idle_power_is_kept_before_the_run(tmp_path: Path, metered: bool) -> None:
    source = EnergySource("stove", [Heater(40.0, metered)])
    with store(tmp_path).create("quick", {}, {}) as writer:
        await measure_at_rest([source], writer, SystemClock(), seconds=0.05)
    (sample,) = store(tmp_path).open(writer.id).samples().to_dict("records")
    assert (sample["source"], sample["name"], sample["unit"]) == ("stove", "heater/idle_power", "W")
    assert sample["value"] == pytest.approx(40.0, rel=0.05)


async def test_without_a_source_nothing_is_waited_for(tmp_path: Path) -> None:
    with store(tmp_path).create("quick", {}, {}) as writer:
        async with asyncio.timeout(0.5):
            await measure_at_rest([], writer, SystemClock(), seconds=60)
    assert store(tmp_path).open(writer.id).samples().empty


async def test_a_run_says_what_of_energy_is_read_and_why_not(tmp_path: Path) -> None:
    with store(tmp_path).create("quick", {}, {}) as writer:
        async with sampled(writer, SystemClock()):
            pass
    (event,) = [event for event in store(tmp_path).open(writer.id).events() if event["type"] == "energy"]
    assert {*event["read"], *event["unread"]} == {"amdsmi", "nvml", "rapl"}
    assert all(event["unread"].values())


async def test_joules_of_an_arm_from_files_to_table(tmp_path: Path) -> None:
    """A package at 5 W; its counter overflows while the second arm is measured."""
    folder, clock = tmp_path / "intel-rapl:0", FakeClock(100.0)
    folder.mkdir()
    for name, text in (("name", "package-0"), ("max_energy_range_uj", "60000000"), ("energy_uj", "0")):
        (folder / name).write_text(text)
    with RunStore(tmp_path / "runs", clock).create("quick", {}, {}) as writer:
        sampler = Sampler(writer.id, [rapl_source(tmp_path)], writer.samples, t0=writer.t0, clock=clock)
        for second in range(21):
            (folder / "energy_uj").write_text(str(5_000_000 * second % 60_000_000))
            await sampler.sample()
            clock.advance(1.0)
        for arm, start, end in (("base", 1.5, 6.0), ("prefix", 8.0, 15.0)):
            writer.step(a_step(writer.id, arm=arm, t_send=start, t_end=end), [])
    run = store(tmp_path).open(writer.id)
    table = joules(run.samples(), run.steps())
    assert table["joules"].tolist() == pytest.approx([5 * 4.5, 5 * 7.0])
    assert table["source"].tolist() == ["rapl: package-0"] * 2


def with_outcomes(tmp_path: Path, asked: dict[str, object], *outcomes: dict[str, object]) -> Run:
    with store(tmp_path).create("agent", asked, {}) as writer:
        writer.step(a_step(writer.id), [])
        for outcome in outcomes:
            writer.event("outcome", **outcome)
    return store(tmp_path).open(writer.id)


def rows(table: pd.DataFrame | None) -> list[tuple[object, ...]]:
    assert table is not None
    return list(table.itertuples(index=False, name=None))


def of_run(run: Run) -> pd.DataFrame | None:
    return solved_tasks(run.info, run.events())


def test_which_tasks_were_solved(tmp_path: Path) -> None:
    one = with_outcomes(tmp_path, {"arm": "prefix", "task": "count"}, {"reached": True})
    assert rows(of_run(one)) == [("prefix", "count", "0", 0, True)]
    attempts = [{"arm": "all", "task": "count", "attempt": n, "reached": n == 1} for n in range(2)]
    assert rows(of_run(with_outcomes(tmp_path, {"arms": ["all"]}, *attempts))) == [
        ("all", "count", "0", 0, False), ("all", "count", "0", 1, True),
    ]  # fmt: skip


def test_a_replay_was_not_checked(tmp_path: Path) -> None:
    assert of_run(with_outcomes(tmp_path, {"arms": ["base"]})) is None
    assert of_run(with_outcomes(tmp_path, {"arm": "base", "task": "count"}, {"reached": None})) is None
