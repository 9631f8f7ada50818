"""Steering a live run while it goes on: what is wished for is a file beside the job, written whole, polled by the run.

    ask(job_id, arm)            from a page, another terminal, a notebook
    wishes = Wishes(job_id)
    wishes()                    from the run: an arm that was not told before, else None

<state>/jobs/<id>/wish.json     the arm that is wished for, and when that was asked
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from labkit.core.arms import Arm, arm_named
from labkit.core.errors import UnknownName
from labkit.core.whole import write_whole
from labkit.experiments.jobs import folder_of

_FILE = "wish.json"
EVERY_S = 0.1
"""How often a run looks: one `stat` each time."""
NextWish = Callable[[], Arm | None]


def ask(job_id: str, arm: Arm) -> None:
    """Wish for this arm from the next step on. A reader sees the old wish or the new one, never half of it."""
    write_whole(folder_of(job_id) / _FILE, json.dumps({"arm": arm.label, "asked": time.time_ns()}))


def newest(job_id: str) -> str | None:
    """Label of the arm that was wished for last, whether the run has read it or not; None: nobody wished."""
    try:
        kept = json.loads((folder_of(job_id) / _FILE).read_text(encoding="utf-8"))
        return arm_named(str(kept["arm"])).label
    except (OSError, ValueError, KeyError, UnknownName):
        return None


@dataclass
class Wishes:
    """The wishes of one job, each told once. Without a job there are none."""

    job_id: str | None
    _told: tuple[int, int] | None = field(default=None, init=False)

    def __call__(self) -> Arm | None:
        """The arm of a wish that is new; one that another replaced before it was read is not told."""
        if self.job_id is None:
            return None
        path = folder_of(self.job_id) / _FILE
        try:
            found = path.stat()
            if (seen := (found.st_ino, found.st_mtime_ns)) == self._told:
                return None
            self._told = seen
            return arm_named(str(json.loads(path.read_text(encoding="utf-8"))["arm"]))
        except (OSError, ValueError, KeyError, UnknownName):
            return None
