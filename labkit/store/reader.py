"""Opening a run: finished, in progress or killed. Reading never writes into the folder.

What is damaged is not hidden and does not hide the rest: a line of `events.jsonl` that cannot be read is skipped and
named by `Run.problems()`. Only a folder whose first line or `run.json` is missing, damaged or newer does not open.
"""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from labkit.core.errors import BadInput, RunUnreadable
from labkit.core.records import RunInfo, RunState
from labkit.store.jsonl import Line, read_heads, read_lines, to_json
from labkit.store.layout import EVENTS, LOGS, RECORDINGS, Owner, read_run_json
from labkit.store.migrations import EVENT_UPGRADES, known_schema, upgraded
from labkit.store.said import Said, said_in
from labkit.store.skimmed import how_it_ended
from labkit.store.tables import TABLES, Collected, current_parquet, to_frame

Event = dict[str, Any]
_STEP, _CHUNKS = b'"type": "step"', b', "chunks": ['
"""How the writer spells a step's event: its type, and its last key."""


class Run:
    """A run folder, read. Raises RunUnreadable when it is not one.

    Tables come from Parquet when the run has ended, else from the events so far: on a live run, call again for more.
    Threads may share it.
    """

    def __init__(self, folder: Path, keep: object = None) -> None:
        """`keep`: something that must live as long as the run is read, such as a temporary folder."""
        self.folder = folder
        self._skipped: list[str] = []
        self._keep = keep
        self._info, self._owner = read_run_json(folder)
        self._collected = Collected()
        self._lock = threading.RLock()
        self._end, self._lines, self._schema = 0, 0, 0
        self._torn = False
        self._catch_up_header()

    @property
    def id(self) -> str:
        return self._info.id

    @property
    def created(self) -> str:
        """When the run started, ISO 8601 in UTC."""
        return self._info.created

    @property
    def live(self) -> bool:
        """Whether the writing process still runs, and the run with it."""
        return self._state_now()[0] == "running"

    @property
    def version(self) -> int:
        """Bytes of events so far: it grows with whatever happens, also when an ended run is resumed."""
        return (self.folder / EVENTS).stat().st_size

    @property
    def writer(self) -> Owner | None:
        """The process that writes, or wrote, the run; None when that was not noted."""
        return self._owner

    @property
    def info(self) -> RunInfo:
        """What was asked, on what, and how it ended; read again on each call.

        A run whose writer died reads as `partial` when it has a step, else `failed`.
        """
        state, note = self._state_now()
        return dataclasses.replace(self._info, state=state, note=note)

    def steps(self) -> pd.DataFrame:
        """One row per step; columns as StepRecord declares them."""
        return to_frame(self.arrow("steps"))

    def chunks(self) -> pd.DataFrame:
        """One row per event of a stream; columns as ChunkRecord declares them."""
        return to_frame(self.arrow("chunks"))

    def samples(self) -> pd.DataFrame:
        """One row per telemetry value; columns as SampleRecord declares them."""
        return to_frame(self.arrow("telemetry"))

    def arrow(self, table: str) -> pa.Table:
        """`steps`, `chunks` or `telemetry` as Arrow."""
        if path := self.parquet(table):
            return pq.read_table(path)
        with self._lock:
            self._catch_up()
            return self._collected.arrow(table)

    def parquet(self, table: str) -> Path | None:
        """The table's file when the run has ended and the file is whole; None: it is made from the events."""
        path = self.folder / f"{table}.parquet"
        return path if self._info.state != "running" and current_parquet(path) else None

    def events(self, after: int = 0) -> list[Event]:
        """What happened since position `after`: dicts with `t` (s), `type`, their data, and `next`.

        To follow a live run, pass the last event's `next` as the following call's `after`.
        """
        return [event for line in read_lines(self.folder / EVENTS, after) if (event := self._event(line))]

    def recordings(self) -> list[dict[str, Any]]:
        """The lines of `recordings.jsonl`; whatever is damaged is left out."""
        return [line.data for line in read_lines(self.folder / RECORDINGS) if line.data is not None]

    def replies(self, agent: str | None = None) -> list[Said]:
        """What was said, a record for each step whose texts were kept, in order. Empty for a run of before they were.

        `agent`: only what this one was told and said; None: all. One line is parsed at a time, and its chunks are not:
        a long stream costs little.
        """
        having = [_STEP] + ([f'"agent": {to_json(agent)}'.encode()] if agent is not None else [])
        told = (said_in(head) for head in read_heads(self.folder / EVENTS, having, _CHUNKS))
        return [said for said in told if said is not None and agent in (None, said.agent)]

    def logs(self) -> list[Path]:
        """The logs of the engine processes."""
        return sorted((self.folder / LOGS).glob("*.log"))

    def problems(self) -> list[str]:
        """What is damaged in the folder, a sentence each; empty when it is whole. Reads all events."""
        with self._lock:
            self._catch_up()
            found, torn = list(self._skipped), self._torn
        if torn and not self.live:
            found.append(f"{EVENTS} ends within a line: what was in flight is lost.")
        if self._info.state != "running":
            lost = [f"{table}.parquet" for table in TABLES if not self.parquet(table)]
            found += [f"{name} is missing or damaged; made from the events." for name in lost]
        return found

    def _state_now(self) -> tuple[RunState, str]:
        with self._lock:
            return self._state_read_again()

    def _state_read_again(self) -> tuple[RunState, str]:
        if self._info.state == "running":
            self._info, self._owner = read_run_json(self.folder)
        if self._info.state != "running" or (self._owner and self._owner.alive()):
            return self._info.state, self._info.note
        return how_it_ended(self.folder / EVENTS, self._info.id, self._schema)

    def _catch_up_header(self) -> None:
        path = self.folder / EVENTS
        first = next(read_lines(path), None)
        if first is None or first.data is None or first.data.get("type") != "run":
            raise RunUnreadable(f"{path} does not start with a run's first line", "Restore it from a copy.")
        self._schema = known_schema(str(path), first.data.get("schema"))

    def _catch_up(self) -> None:
        with self._lock:
            for line in read_lines(self.folder / EVENTS, self._end, self._lines + 1):
                self._torn = line.torn
                if line.torn:
                    break
                self._end, self._lines = line.end, line.number
                self._take(line)

    def _take(self, line: Line) -> None:
        event = self._event(line)
        try:
            if event is None:
                raise ValueError("not a JSON object with a type")
            self._collected.feed(self._info.id, event)
        except (ValueError, KeyError, TypeError, BadInput) as error:
            self._skipped.append(f"{EVENTS} line {line.number} was skipped: {error}")

    def _event(self, line: Line) -> Event | None:
        if line.data is None or "type" not in line.data:
            return None
        return {**upgraded(line.data, self._schema, EVENT_UPGRADES), "next": line.end}
