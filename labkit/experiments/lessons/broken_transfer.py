"""What an agent sees when the prefill side of a split engine dies under it: measured by ending that process.

run = broken_run({"profile": "cpu-smollm2", "recording": "ranks-that-jump-live", "arms": ["prefix+pd"], "steps": 6})
what_broke(run).in_words()
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import psutil

from labkit.analysis.format import seconds
from labkit.analysis.tables import is_finished, measured, null_if_nan
from labkit.core.errors import BadInput, LabError
from labkit.engines.fleet import Fleet
from labkit.engines.process import group
from labkit.experiments import jobs
from labkit.experiments.lessons.measured import ENGINES, over_itself, where
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted
from labkit.store.runs import Run, RunStore

_ACTIVE = ("starting", "running")
_POLL_S = 0.3


def broken_run(
    question: Mapping[str, Any], *, role: str = "prefill", after: int = 2, say: Callable[[str], None] = print
) -> Run:
    """Replay as asked, kill `role` of its engine once `after` steps are measured, and return the run that is left.

    Ended as a crash ends it: its whole group at once, nobody told. Interrupting stops the run as Ctrl-C does. Raises
    what `jobs.start` raises, UnknownName for a role that the engine has not, LabError where there was no run.
    """
    job, killed = jobs.start("replay", question), False
    try:
        while (now := jobs.status(job.id)).state in _ACTIVE:
            if now.run is not None and not killed and _n_measured(now.run) >= after:
                killed = _kill(now.run, role, say)
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        now = jobs.cancel(job.id)
    if now.run is None:
        raise LabError(f"{job.id} ended before there was a run.", "\n".join(now.log_tail))
    return now.run


def broken(question: Mapping[str, Any], engine: str, stored: str, say: Callable[[str], None] = print) -> Run | None:
    """As `measured` does: `live` breaks an engine now, `stored` opens a run in which one was broken.

    None, and a sentence, where none is named.

    Raises BadInput for another `engine`, and what `broken_run` and `RunStore.open` raise.
    """
    if engine not in ENGINES:
        raise BadInput("ENGINE", engine, " or ".join(ENGINES))
    if engine == "stored" and not stored:
        say('No engine was broken: BREAK = True and ENGINE = "live" start one, and kill a side of it.')
        return None
    run = broken_run(question, say=over_itself(say)) if engine == "live" else RunStore().open(stored)
    say(where(run, engine))
    return run


def _n_measured(run: Run) -> int:
    return len(measured(run.steps()))


def _kill(run: Run, role: str, say: Callable[[str], None]) -> bool:
    """End every process of this role of the engine that serves the run now. True: there was one."""
    serving = [event for event in run.events() if event["type"] == "serving"][-1]
    processes = group(Fleet().get(serving["engine"]).process(role))
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    say(f"killed {role} of {serving['engine']}: {counted(len(processes), 'process', 'processes')}")
    return bool(processes)


class Broke(NamedTuple):
    """`n_finished`: steps before it; `error`: what the first failed step says, empty when none failed.

    `after_s`: from that step's send to its failure; None when none failed. `note`: what the run notes of itself.
    `lost`: the arm's event of its loss, None when it was not lost.
    """

    n_finished: int
    n_failed: int
    error: str
    after_s: float | None
    note: str
    lost: str | None

    def in_words(self) -> str:
        """A clause: how many steps had gone well, what the next one got, and when."""
        before = f"{counted(self.n_finished, 'step')} had finished"
        if not self.n_failed:
            return f"{before} and none failed"
        return (
            f"{before}; the next one failed {seconds(self.after_s)} after it was sent, and no other engine took it over"
        )


def what_broke(run: Run) -> Broke:
    """What the run's own rows and events say of the break."""
    kept = measured(run.steps())
    failed = kept[kept["error"].notna()]
    waited = (failed["t_end"] - failed["t_send"]).astype("float64")
    lost = [str(event.get("message", "")) for event in run.events() if event["type"] in ("engine_died", "refused")]
    return Broke(
        n_finished=int(is_finished(kept).sum()),
        n_failed=len(failed),
        error=str(failed["error"].iloc[0]) if len(failed) else "",
        after_s=null_if_nan(float(waited.iloc[0])) if len(failed) else None,
        note=run.info.note,
        lost=lost[-1] if lost else None,
    )


def survives(run: Run | None) -> Outcome:
    """Whether the request in flight came to its end although its prefill side was gone."""
    if run is None:
        return unmeasured("no engine was broken")
    broke = what_broke(run)
    return Outcome(not broke.n_failed, broke.in_words())
