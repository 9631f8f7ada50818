"""What is thrown away before live agents begin, since nobody knows yet what they will ask for.

Every attempt's first calls are known: before anything was done, and after the files were listed. Which files were read
by then decides the grammar of a later one, and there are too many sets of files to ask for them all. So a third request
has the longest grammar, in which every file may be edited; what an agent meets beyond that, it pays for in every arm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from labkit.agents.offers import Call, offers
from labkit.agents.requests import RequestBuilder
from labkit.agents.tasks import Task
from labkit.experiments.warmup import TASK, warmup
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, request_options

_LISTED = Call("list_files", None, ok=True)


def live_warmup(tasks: Sequence[Task], requests: RequestBuilder) -> Recording:
    """The requests of `warmup` for agents at these tasks, sampled as theirs: drafts are checked in another way then."""
    steps = [step for task in tasks for step in _first_calls(task, requests)]
    header = RecordingHeader(name=TASK, task=TASK, decided_by="labkit", model="", tools=requests.tools)
    made = warmup([(Recording(header=header, steps=tuple(steps)), len(steps))])
    sampled = {"temperature": requests.temperature, "seed": requests.seed}
    again = (dataclasses.replace(step, request={**step.request, **sampled}) for step in made.steps)
    return dataclasses.replace(made, steps=tuple(again))


def _first_calls(task: Task, requests: RequestBuilder) -> list[RecordedStep]:
    with task.workspace() as workspace:
        files = workspace.files()
    all_read = [_LISTED, *(Call("read_file", path, ok=True) for path in files)]
    return [
        RecordedStep(turn=n, kind="act", append=[], reply={}, request=_options(requests, files, made))
        for n, made in enumerate(([], [_LISTED], all_read), 1)
    ]


def _options(requests: RequestBuilder, files: Sequence[str], made: Sequence[Call]) -> dict[str, object]:
    return request_options(requests.build("act", [], offers(made, files)))
