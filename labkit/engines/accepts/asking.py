"""One process of the engine's Python for all questions, with a time limit; no engine here is an answer, too."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from labkit.core.clock import SystemClock
from labkit.core.errors import BadInput
from labkit.core.progress import OnProgress, Progress, silent
from labkit.engines.accepts.records import KINDS, KNOWN, Answer, Answers, Question
from labkit.engines.environment import engine_environment
from labkit.engines.logs import tail
from labkit.engines.process import ProcessState, end_group, exit_code, is_alive, spawn

LIMIT_S = 240.0
"""vLLM's import takes ten seconds; the first look at a model's class, in a process of vLLM's own, as long again."""
_INSIDE = Path(__file__).with_name("inside.py")
_POLL_S = 0.05
_ENV = {
    "HF_HUB_OFFLINE": "1",  # models are folders here; nothing is asked of a network
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_LOGGING_LEVEL": "WARNING",
}
NOT_INSTALLED = "vLLM is not installed here"


class _Told(NamedTuple):
    """What a process told. `why`: what became of it, for the questions that it left unanswered."""

    vllm: str | None
    answers: dict[str, Answer]
    why: str
    platform: str | None = None


_kept: dict[str, _Told] = {}
"""By interpreter: the version there, and the answers by what was asked."""


def ask(
    questions: Sequence[Question],
    models: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    python: str | None,
    limit_s: float = LIMIT_S,
    on_progress: OnProgress = silent,
) -> Answers:
    """What the engine of this interpreter says to each question, in their order.

    `models`: hub id to the config.json that stands for it. `python`: as `engine_python` finds it; None: there is none,
    and every answer is `not installed`. A question that the process did not come to within `limit_s` seconds, or before
    it ended, has `no answer`, with the reason. Raises BadInput for two questions with one id, an unknown kind or no
    time; EngineError when the interpreter cannot be started.
    """
    _check(questions, limit_s)
    began, models = time.monotonic(), models or {}
    keys = {question.id: _key(question, models) for question in questions}
    kept = _kept.get(python or "", _Told(None, {}, ""))
    known = kept.answers
    missing = [question for question in questions if keys[question.id] not in known]
    talk = _Interview(missing, models, limit_s, on_progress)
    told = talk.put(python) if python and missing else kept._replace(answers={})
    if python:
        fresh = {keys[name]: answer for name, answer in told.answers.items() if answer.status in KNOWN}
        _kept[python] = told._replace(answers={**known, **fresh} if told.vllm else {}, why="")
    answers = (
        told.answers.get(question.id) or known.get(keys[question.id]) or _without(question, told, python)
        for question in questions
    )
    return Answers(
        vllm=told.vllm,
        platform=told.platform,
        python=python,
        asked_on=f"{SystemClock().wall():%Y-%m-%d}",
        seconds=time.monotonic() - began,
        answers=tuple(replace(answer, id=question.id) for answer, question in zip(answers, questions, strict=True)),
    )


def _check(questions: Sequence[Question], limit_s: float) -> None:
    names = [question.id for question in questions]
    for question in questions:
        if question.kind not in KINDS:
            raise BadInput(f"kind of {question.id}", question.kind, ", ".join(KINDS))
        if names.count(question.id) > 1:
            raise BadInput("question", question.id, "an id that no other question has")
    if limit_s <= 0:
        raise BadInput("limit_s", limit_s, "more than 0 seconds")


def _key(question: Question, models: Mapping[str, Any]) -> str:
    """What makes two questions the same, whatever they are called."""
    return json.dumps([question.kind, question.given, models], sort_keys=True, default=str)


def _without(question: Question, told: _Told, python: str | None) -> Answer:
    if python is None or not (told.vllm or told.why):
        return Answer(id=question.id, status="not installed", said=NOT_INSTALLED)
    return Answer(id=question.id, status="no answer", said=told.why)


class _Interview(NamedTuple):
    """One process, and what it is asked."""

    questions: Sequence[Question]
    models: Mapping[str, Mapping[str, Any]]
    limit_s: float
    on_progress: OnProgress

    def put(self, python: str) -> _Told:
        with tempfile.TemporaryDirectory(prefix="labkit-asks-") as folder:
            asked, told, log = (Path(folder) / name for name in ("asked.json", "told.jsonl", "log.txt"))
            asked.write_text(json.dumps({"models": self.models, "questions": [q.to_dict() for q in self.questions]}))
            env = engine_environment(os.environ, _ENV)
            state = spawn([python, str(_INSIDE), str(asked), str(told)], env, log, role="asked")
            try:
                why = self._wait(state, told)
                code = exit_code(state)
            finally:
                end_group(state)
            return _read(_lines(told), why or _ended(code, log))

    def _wait(self, state: ProcessState, told: Path) -> str:
        """Until the process has ended; why it was not waited for any longer, or empty."""
        deadline, seen = time.monotonic() + self.limit_s, -1
        while is_alive(state):
            if time.monotonic() > deadline:
                return f"no answer within {self.limit_s:g} s"
            if (lines := len(_lines(told))) != seen:
                seen = lines
                self.on_progress(self._progress(lines))
            time.sleep(_POLL_S)
        return ""

    def _progress(self, lines: int) -> Progress:
        """The first line is about the engine, and comes once it is imported."""
        message = "its answers" if lines else "its import takes about ten seconds"
        total = len(self.questions)
        return Progress(stage="asking vLLM", message=message, done=max(lines - 1, 0), total=total)


def _lines(told: Path) -> list[str]:
    return told.read_text(encoding="utf-8").splitlines() if told.is_file() else []


def _ended(code: int | None, log: Path) -> str:
    """Why a process that has ended told no more; empty when it ended well."""
    last = tail(log, 1)
    return f"the process ended with exit code {code}: {last[0] if last else 'it said nothing'}" if code else ""


def _read(lines: Sequence[str], why: str) -> _Told:
    """A last line that was cut off is left out: what it was to say is not known."""
    found: list[dict[str, Any]] = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break
    head = found[0] if found else {}
    answers = {each["id"]: Answer.from_dict(each) for each in found[1:]}
    return _Told(head.get("vllm"), answers, head.get("broken") or why, head.get("platform"))
