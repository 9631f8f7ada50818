"""A run held open for whoever looks at it again and again: each table is read once for each state of the run."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pandas as pd

from labkit.core.records import RunInfo
from labkit.experiments.compared import Part, compared, parts
from labkit.experiments.view import RunView, view
from labkit.store.runs import Run


class Opened:
    """A run as it is at one moment. What it returns is shared by all who look, so nobody may change it.

    `info` and `version` are of the moment when it was opened; tables are read when somebody first asks for them.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.version = run.version
        self.info: RunInfo = run.info

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def live(self) -> bool:
        """Whether the run went on when it was opened."""
        return self.info.state == "running"

    @cached_property
    def steps(self) -> pd.DataFrame:
        """All steps, warm-up included; columns as StepRecord declares them."""
        return self.run.steps()

    @cached_property
    def chunks(self) -> pd.DataFrame:
        """All events of all streams; columns as ChunkRecord declares them. Large: ask for what is made from it."""
        return self.run.chunks()

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Telemetry; columns as SampleRecord declares them."""
        return self.run.samples()

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Everything that happened, in order, steps included."""
        return self.run.events()

    @cached_property
    def counted(self) -> pd.DataFrame:
        """The steps that count: no warm-up, no drift block; cold and warm passes."""
        return compared(self.info, self.steps)

    @cached_property
    def parts(self) -> list[Part]:
        """The rows that count, for sums: cold passes, then warm ones."""
        return parts(self.info, self.steps, self.chunks)

    @cached_property
    def view(self) -> RunView:
        """How far it is, what was refused, and what it has measured so far."""
        return view(self.run)
