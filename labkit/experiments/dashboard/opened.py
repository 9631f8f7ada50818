"""A run held open for whoever looks at it again and again: each table is read once for each state of the run."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import pandas as pd
import pyarrow as pa

from labkit.analysis.latency import Spread, itl_by_step, itl_spreads
from labkit.analysis.tables import is_finished, measured
from labkit.core.records import RunInfo
from labkit.experiments.compared import Part, compared, parts, sent
from labkit.experiments.own_ways import OwnWays, own_ways
from labkit.experiments.view import RunView, arms_of_part, view_of
from labkit.store.following import Following, Snapshot, happened
from labkit.store.runs import Run
from labkit.store.tables import compact_frame, to_frame

Table = Literal["steps", "chunks", "telemetry"]


class Opened:
    """A run as it is at one moment. What it returns is shared by all who look, so nobody may change it.

    `info` and `version` are of the moment when it was opened; tables are read when somebody first asks for them.
    `at`: the moment of a run that goes on, as `labkit.store.following` saw it.
    """

    def __init__(self, run: Run, at: Snapshot | None = None) -> None:
        self.run = run
        self.version = at.version if at else run.version
        self.info: RunInfo = at.info if at else run.info
        self._at = at

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def live(self) -> bool:
        """Whether the run went on when it was opened."""
        return self.info.state == "running"

    def is_of(self, at: Snapshot) -> bool:
        """Whether this is the run at that very moment."""
        return self._at is at

    def _arrow(self, table: Table) -> pa.Table:
        return self._at.tables[table] if self._at else self.run.arrow(table)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """All steps, warm-up included; columns as StepRecord declares them."""
        return to_frame(self._arrow("steps"))

    @cached_property
    def chunks(self) -> pd.DataFrame:
        """All events of all streams; columns as ChunkRecord declares them, its words as categories.

        Large: ask for what is made from it (`arm_table`, `gaps`, `step_gaps`).
        """
        return compact_frame((None if self._at else self.run.parquet("chunks")) or self._arrow("chunks"))

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Telemetry; columns as SampleRecord declares them."""
        return to_frame(self._arrow("telemetry"))

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Everything that happened, in order; steps without their chunks, and no telemetry: those are tables."""
        return self._at.events if self._at else happened(self.run)

    @cached_property
    def counted(self) -> pd.DataFrame:
        """The steps that count: no warm-up, no drift block, none after a toggle; cold and warm passes."""
        return compared(self.info, self.steps)

    @cached_property
    def sent(self) -> pd.DataFrame:
        """What happened: the steps that count, and those after a toggle."""
        return sent(self.info, self.steps)

    @cached_property
    def answered(self) -> bool:
        """Whether any step got a whole answer."""
        return bool(is_finished(self.sent).any())

    @cached_property
    def parts(self) -> list[Part]:
        """The rows that count, for sums: cold passes, then warm ones."""
        return parts(self.info, self.steps, self.chunks)

    @cached_property
    def own_ways(self) -> OwnWays:
        """Who of this run sends what no other arm sends."""
        return own_ways(self.info, self.events)

    @property
    def paired(self) -> bool:
        """Whether the run's arms sent the same requests, so that their steps are pairs."""
        return not self.own_ways

    @cached_property
    def arm_tables(self) -> list[pd.DataFrame]:
        """`arm_table` of each of `parts`, in their order; columns as ArmRow declares them."""
        return [arms_of_part(part, self.paired) for part in self.parts]

    @property
    def arm_table(self) -> pd.DataFrame:
        """One row per arm, of the cold passes where there are any."""
        return self.arm_tables[0]

    @cached_property
    def gaps(self) -> dict[str, Spread]:
        """Arm to how its gaps between chunks lie (s), over all streams that count; arms in the lab's order."""
        return itl_spreads(compared(self.info, self.chunks))

    @cached_property
    def step_gaps(self) -> pd.DataFrame:
        """One row per stream that is no warm-up, as `itl_by_step`: its key, `n_gaps`, `itl_p50_s` and `itl_max_s`."""
        return itl_by_step(measured(self.chunks))

    @cached_property
    def view(self) -> RunView:
        """How far it is, what was refused, and what it has measured so far."""
        return view_of(self.info, self.events, self.steps, self.chunks)


class Followed:
    """A run that goes on, held open for all tabs; each look reads what happened since the last, whoever had it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._following = Following(run)
        self._opened: Opened | None = None

    def now(self) -> Opened:
        """The run as it is now; the same as before when nothing has happened since."""
        at, last = self._following.now(), self._opened
        if last is None or not last.is_of(at):
            self._opened = last = Opened(self._run, at)
        return last
