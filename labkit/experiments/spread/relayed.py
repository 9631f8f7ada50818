"""How a node's rows travel: a writer without a file, whose lines the driver's writer appends to the run.

Its `t0` is the reading of the node's clock at the run's start, so that what is measured against it stands on the run's
clock when it is made. What is noted says which node it is from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from labkit.core.clock import Clock
from labkit.core.records import RunInfo, SampleRecord
from labkit.store.runs import RunWriter

Line = dict[str, Any]
"""`t` (s since the run's start), `type`, and the event's data, as in `events.jsonl`."""
_ROWS = ("step", "samples")


class RelayWriter(RunWriter):
    """RunWriter for a node. `send` gets every line; `folder` is the node's own, for logs."""

    def __init__(
        self, node: str, run: str, folder: Path, clock: Clock, t0: float, send: Callable[[Line], None]
    ) -> None:
        self.folder, self.t0 = folder, t0
        self._info = RunInfo(id=run, experiment="", created="", state="running", asked={}, fingerprint={})
        self._clock, self._node, self._send = clock, node, send
        self._engine = ""
        (self.log_dir / node).mkdir(parents=True, exist_ok=True)  # logs are called as their engine is: <node>/<engine>

    def samples(self, samples: Sequence[SampleRecord]) -> None:
        """`host` becomes `<node>/host`; an engine's samples have the node's name already."""
        super().samples([self._named(sample) for sample in samples])

    def _named(self, sample: SampleRecord) -> SampleRecord:
        if sample.source.startswith(f"{self._node}/"):
            return sample
        return dataclasses.replace(sample, source=f"{self._node}/{sample.source}")

    def _append(self, type: str, data: dict[str, Any]) -> None:
        """Counters say which engine they are of: among lines of several nodes, the one before does not tell."""
        if type == "serving":
            self._engine = data["engine"]
        if type == "counters":
            data = {"engine": self._engine, **data}
        where = {} if type in _ROWS else {"node": self._node}
        self._send({"t": round(self.now(), 6), "type": type, **data, **where})

    def close(self) -> None:
        """There is no file to let go of."""
