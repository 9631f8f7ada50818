"""The parts of a live run, put together."""

from __future__ import annotations

from functools import partial

from labkit.agents.requests import RequestBuilder
from labkit.agents.tasks import Task
from labkit.core.clock import Clock
from labkit.core.progress import OnProgress
from labkit.experiments.agent_run import task_of
from labkit.experiments.alive import check_alive
from labkit.experiments.kept_recordings import keep_recordings
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_board import Board
from labkit.experiments.live_crew import Book, Replaying, Work
from labkit.experiments.live_holds import Station
from labkit.experiments.live_lap import Laps
from labkit.experiments.live_laps import Live
from labkit.experiments.live_telling import Telling
from labkit.experiments.live_warmup import live_warmup
from labkit.experiments.live_working import Working
from labkit.experiments.rows import Place
from labkit.experiments.serving import EngineProvider
from labkit.experiments.steering import NextWish
from labkit.experiments.warm_provider import WarmProvider
from labkit.experiments.warming import warm_up
from labkit.experiments.warmup import TASK, warmup
from labkit.store.runs import RunWriter
from labkit.traffic.recording import Recording, named


def source_of(asked: LiveAsked) -> Recording | Task:
    """What is replayed, or worked at. Raises BadInput and UnknownName."""
    return named(asked.recording) if asked.recording else task_of(asked.attempt(asked.arms[0], 0))


def live_of(
    asked: LiveAsked,
    source: Recording | Task,
    provider: EngineProvider,
    writer: RunWriter,
    clock: Clock,
    on_progress: OnProgress,
    wishes: NextWish,
) -> Live:
    """A run that has not begun."""
    laps = Laps(asked.planned, asked.laps)
    telling = Telling(writer, None, asked.agents, on_progress)
    warm = partial(_warm_up, _thrown_away(asked, source), provider, writer, clock)
    board = Board(writer, provider, clock, telling, warm, asked.spec_method)
    if isinstance(provider, WarmProvider):
        provider.leaving = board.leave
    book = Book(board)
    work = _work(asked, source, book)
    if isinstance(source, Recording):
        keep_recordings(writer, [source])
    live = Live(asked, board, book, work, laps, wishes)
    telling.expect(live.left(begins=False))
    return live


def _work(asked: LiveAsked, source: Recording | Task, book: Book) -> Work:
    if isinstance(source, Recording):
        return Replaying(book, source, asked.options())
    return Working(book, source, asked)


def _thrown_away(asked: LiveAsked, source: Recording | Task) -> Recording:
    """What is sent to each engine before it is measured."""
    if isinstance(source, Recording):
        return warmup([(source, asked.options().count(source))])
    first = asked.attempt(asked.arms[0], 0)
    builder = RequestBuilder(tool_mode=first.tool_mode, temperature=first.temperature, seed=first.seed)
    return live_warmup([source], builder)


async def _warm_up(
    requests: Recording, provider: EngineProvider, writer: RunWriter, clock: Clock, station: Station
) -> None:
    """Send it; its rows are kept and marked. Raises EngineDied."""
    place = Place(
        run=writer.id,
        arm=station.arm.label,
        task=TASK,
        recording=TASK,
        repeat=0,
        switched_by=station.served.switched_by,
        history="recorded",
        engine=station.engine,
        t0=writer.t0,
        warmup=True,
    )
    await warm_up(
        requests,
        station.served,
        station.client,
        place=place,
        writer=writer,
        clock=clock,
        after_failure=partial(check_alive, provider, station.served),
    )
