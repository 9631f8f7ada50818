"""What others took from the machine in a lap of a live run: it is in every time, and no layer is to blame for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from labkit.experiments.bystanders import MANY_CORES, Bystanders
from labkit.experiments.live_board import Board
from labkit.experiments.live_lap import Lap
from labkit.experiments.verdict import Tally


@contextmanager
def bystanders(board: Board, lap: Lap, tally: Tally) -> Iterator[None]:
    """Keep, and say when it is many, the cores that others kept busy in this lap.

    Of a lap that one engine served from begin to end alone: what another engine took to start would count as others'.
    """
    station = board.station
    others = Bystanders(station.served.pids) if station and station.served.pids else None
    yield
    if others is None or station is None or board.station is None or board.station.engine != station.engine:
        return
    cores, arm = others.cores(), lap.arm.label
    board.writer.event("bystanders", arm=arm, label=arm, repeat=lap.repeat, cores=cores)
    if cores is not None and cores > MANY_CORES:
        tally.disturbed[arm] = max(cores, tally.disturbed.get(arm, 0.0))
