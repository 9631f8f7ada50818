"""Writing a run as it happens. A kill at any moment loses at most the step in flight."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labkit.core.clock import Clock
from labkit.core.errors import BadInput, LabError
from labkit.core.masking import masked_text
from labkit.core.records import SCHEMA, ChunkRecord, RunInfo, RunState, SampleRecord, StepRecord
from labkit.store.jsonl import JsonlWriter
from labkit.store.layout import EVENTS, LOGS, RECORDINGS, Owner, write_run_json
from labkit.store.masking import without_said_secrets
from labkit.store.reader import Run
from labkit.store.tables import TABLES, checked, chunk_event, write_parquet

_OWN_TYPES = ("run", "step", "samples", "finish", "resume", "void")
_ROW_TYPES = ("step", "samples")
_ENDED = ("done", "partial", "failed", "cancelled")


class RunWriter:
    """The one writer of a run folder; made by `RunStore.create` or `RunStore.resume`. Use it as a context manager.

    `t0` is the reading of the clock at the run's start: a step's `t_send` is `clock.now() - run.t0`.
    """

    def __init__(self, folder: Path, info: RunInfo, clock: Clock, t0: float) -> None:
        self.folder = folder
        self.t0 = t0
        self._info = info
        self._clock = clock
        self._owner = Owner.this_process()
        self._events = JsonlWriter(folder / EVENTS)
        self._recordings: JsonlWriter | None = None

    @property
    def id(self) -> str:
        return self._info.id

    @property
    def info(self) -> RunInfo:
        return self._info

    @property
    def log_dir(self) -> Path:
        """The folder for the logs of engine processes."""
        return self.folder / LOGS

    def now(self) -> float:
        """Seconds since the run's start."""
        return self._clock.now() - self.t0

    def start(self) -> None:
        """Write what makes the folder a run. `RunStore.create` calls this before the folder gets its name."""
        header = {"id": self.id, "experiment": self._info.experiment, "created": self._info.created}
        self._append("run", {"schema": SCHEMA, **header})
        write_run_json(self.folder, self._info, self._owner)

    def moved_to(self, folder: Path) -> None:
        """The folder has got its final name."""
        self.folder = folder
        self._events.path = folder / EVENTS

    def event(self, type: str, /, **data: Any) -> None:
        """Note that something happened. Raises BadInput for a type or key that is the store's own."""
        if type in _OWN_TYPES:
            raise BadInput("event type", type, "any other word", f"Taken by the store: {', '.join(_OWN_TYPES)}.")
        if taken := {"t", "type"} & data.keys():
            raise BadInput("event data", sorted(taken), "other keys", "The store sets t and type itself.")
        self._append(type, data)

    def step(
        self, step: StepRecord, chunks: Sequence[ChunkRecord] = (), texts: Mapping[str, Any] | None = None
    ) -> None:
        """Keep one step, what was said in it and the chunks of its stream, in one line: all are there or none.

        `texts`: `reply`, the message that the engine sent, and `append`, the messages that were new in the request,
        where no recording holds them. Secrets in them and in the step's error are masked. Raises BadInput for a value
        that its column cannot hold, or for another run's step.
        """
        self._mine(step, *chunks)
        said = {name: without_said_secrets(text) for name, text in (texts or {}).items()}
        step = dataclasses.replace(step, error=step.error and masked_text(step.error))
        self._append("step", {"step": checked(step), **said, "chunks": [chunk_event(chunk) for chunk in chunks]})

    def samples(self, samples: Sequence[SampleRecord]) -> None:
        """Keep telemetry samples; none is fine."""
        self._mine(*samples)
        if samples:
            rows = [{k: v for k, v in checked(sample).items() if k != "run"} for sample in samples]
            self._append("samples", {"samples": rows})

    def void(self, arm: str, t_from: float, t_to: float, **about: Any) -> None:
        """Throw away what this arm sent in this time (s since the run's start): the rows stay, marked as warm-up.

        `about`: what was interrupted, for whoever reads the events.
        """
        self._append("void", {"arm": arm, "t_from": t_from, "t_to": t_to, **about})

    def relayed(self, t: float, type: str, data: Mapping[str, Any]) -> None:
        """Append what a writer on another machine noted for this run, at its own moment (s since the run's start).

        Its rows are checked and masked there, as here. Raises BadInput for what only this writer may say.
        """
        if type in _OWN_TYPES and type not in _ROW_TYPES:
            raise BadInput("relayed event", type, "a row or an event", "How a run begins and ends is its own to say.")
        self._append(type, {**data, "t": round(t, 6)})

    def resumed(self, **about: Any) -> None:
        """Note that a run that had ended goes on, and with what; the end that was noted before holds no longer."""
        self._append("resume", about)

    def recording(self, line: dict[str, Any]) -> None:
        """Append one line to `recordings.jsonl`: a recording's header or one of its steps."""
        if self._recordings is None:
            self._recordings = JsonlWriter(self.folder / RECORDINGS)
        self._recordings.append(line)

    def finish(self, state: RunState, note: str = "") -> None:
        """End the run: make the tables, then say how it ended. A second call does nothing.

        Tables that the disk refuses are named in the note: the events hold the same.
        """
        if state not in _ENDED:
            raise BadInput("state", state, ", ".join(_ENDED))
        if self._info.state != "running":
            return
        self._append("finish", {"state": state, "note": note})
        problem = self._write_tables()
        self._info = dataclasses.replace(self._info, state=state, note=" ".join(filter(None, (note, problem))))
        write_run_json(self.folder, self._info, self._owner)
        self.close()

    def close(self) -> None:
        """Let go of the files without ending the run."""
        for file in (self._events, self._recordings):
            if file is not None:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Done; or cancelled by Ctrl-C or a cancelled task; or failed, with the error in the note."""
        if error is None:
            self.finish("done")
        elif isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
            self.finish("cancelled", "stopped by the user")
        else:
            self.finish("failed", _one_line(error))

    def _append(self, type: str, data: dict[str, Any]) -> None:
        if self._info.state != "running":
            raise LabError(f"Run {self.id} has ended ({self._info.state}); nothing can be added to it.")
        self._events.append({"t": round(self.now(), 6), "type": type, **data})

    def _mine(self, *records: StepRecord | ChunkRecord | SampleRecord) -> None:
        for record in records:
            if record.run != self.id:
                hint = "A record belongs to the run that it is in."
                raise BadInput(f"{type(record).__name__}.run", record.run, self.id, hint)

    def _write_tables(self) -> str:
        run = Run(self.folder)
        try:
            for table in TABLES:
                write_parquet(run.arrow(table), self.folder / f"{table}.parquet")
        except LabError as error:
            return f"Tables were not written: {error.message}."
        return ""


def _one_line(error: BaseException) -> str:
    text = error.message if isinstance(error, LabError) else str(error)
    return masked_text(f"{type(error).__name__}: {' '.join(text.split())}")[:500]
