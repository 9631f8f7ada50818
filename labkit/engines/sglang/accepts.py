"""What SGLang itself says to a plan: its parser, its resolution of the arguments, its checks, and the router's parser.

    told = ask([make_plan(profile, arm)], models, python=sglang_python())
    told.verdicts[plan.key].status, .said, .reached

labkit imports no engine: a script is run by the Python that has SGLang, named by LABKIT_SGLANG_PYTHON. Without one
nothing is tried. Where that Python sees no GPU, SGLang is asked as for one (`--device cuda`, which ROCm is, too); what
it would do on ROCm alone is then not asked: `Told.platform`.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from labkit.core.errors import BadInput
from labkit.core.records import Record
from labkit.engines.environment import engine_environment
from labkit.engines.logs import tail
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.process import end_group, exit_code, is_alive, spawn

VARIABLE = "LABKIT_SGLANG_PYTHON"
LIMIT_S = 300.0
"""SGLang's import takes ten seconds on a busy machine, and half a minute the first time."""
NO_PYTHON = f"no Python with SGLang is named ({VARIABLE})"
_INSIDE = Path(__file__).with_name("inside.py")
_ENV = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1"}


@dataclass(frozen=True, kw_only=True)
class SglangVerdict(Record):
    """Of one plan. `said`: the refusal in SGLang's own words, or why it was not tried; `role`: whose it is.

    `reached`: checks that let every process through. `read`: by role, the resolved settings that were asked for.
    """

    status: Literal["accepted", "refused", "not tried"]
    said: str = ""
    role: str = ""
    reached: tuple[str, ...] = ()
    read: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Told(Record):
    """All verdicts, by plan key. `version`: None where SGLang is not there. `platform`: rocm, cuda or cpu."""

    version: str | None
    platform: str | None
    verdicts: Mapping[str, SglangVerdict]


def sglang_python() -> str | None:
    """The interpreter that LABKIT_SGLANG_PYTHON names; None: there is none. Raises BadInput when it is not there."""
    named = os.environ.get(VARIABLE)
    if named and not os.access(named, os.X_OK):
        raise BadInput(VARIABLE, named, "the path of a Python that has SGLang")
    return named or None


def ask(
    plans: Sequence[Plan],
    models: Mapping[str, Mapping[str, Any]],
    *,
    python: str | None,
    read: Sequence[str] = (),
    limit_s: float = LIMIT_S,
) -> Told:
    """What SGLang says to each plan. `models`: hub id to the config.json that stands for it; `read`: fields of
    SGLang's ServerArgs whose resolved values are wanted.

    Raises EngineError when the interpreter cannot be started.
    """
    if python is None:
        return Told(version=None, platform=None, verdicts={plan.key: _not_tried(NO_PYTHON) for plan in plans})
    questions = {(key := _question(process, read))["id"]: key for plan in plans for process in plan.processes}
    head, answers, why = _interview(python, list(questions.values()), models, limit_s)
    verdicts = {plan.key: _verdict(plan, answers, why, read) for plan in plans}
    return Told(version=head.get("sglang"), platform=head.get("platform"), verdicts=verdicts)


def _not_tried(why: str, role: str = "") -> SglangVerdict:
    return SglangVerdict(status="not tried", said=why, role=role)


def _question(process: ProcessSpec, read: Sequence[str]) -> dict[str, Any]:
    """The words after the module's name; the same words with the same environment are one question."""
    kind = "router" if process.role == "router" else "server"
    given = {"kind": kind, "argv": list(process.argv[3:]), "env": process.env, "read": list(read)}
    return {"id": json.dumps(given, sort_keys=True), **given}


def _verdict(plan: Plan, answers: Mapping[str, Any], why: str, read: Sequence[str]) -> SglangVerdict:
    """Accepted is what every process is; the first that is not says why."""
    found = {process.role: answers.get(_question(process, read)["id"]) for process in plan.processes}
    for role, answer in found.items():
        if answer is None:
            return _not_tried(why, role)
        if answer["status"] != "accepted":
            reached = tuple(answer["reached"])
            return SglangVerdict(status="refused", said=answer["said"], role=role, reached=reached)
    told = {role: answer for role, answer in found.items() if answer}
    reached = tuple(dict.fromkeys(check for answer in told.values() for check in answer["reached"]))
    return SglangVerdict(status="accepted", reached=reached, read={role: each["read"] for role, each in told.items()})


def _interview(
    python: str, questions: Sequence[Mapping[str, Any]], models: Mapping[str, Any], limit_s: float
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """What that SGLang is, its answers by question, and why there are no more."""
    with tempfile.TemporaryDirectory(prefix="labkit-asks-") as folder:
        asked, told, log = (Path(folder) / name for name in ("asked.json", "told.jsonl", "log.txt"))
        asked.write_text(json.dumps({"models": models, "questions": questions}), encoding="utf-8")
        why = _run([python, str(_INSIDE), str(asked), str(told)], log, limit_s)
        lines = told.read_text(encoding="utf-8").splitlines() if told.is_file() else []
    head, *answers = [json.loads(line) for line in lines] or [{}]
    if lines and head["sglang"] is None:
        why = head.get("broken", "SGLang is not installed in that Python")
    return head, {each["id"]: each for each in answers}, why


def _run(command: Sequence[str], log: Path, limit_s: float) -> str:
    """Run it to its end, or to the limit; in words what became of it."""
    state = spawn(list(command), engine_environment(os.environ, _ENV), log, role="asked")
    deadline = time.monotonic() + limit_s
    try:
        while is_alive(state) and time.monotonic() < deadline:
            time.sleep(0.05)
        if is_alive(state):
            return f"no answer within {limit_s:g} s"
        last = (tail(log, 1) or ["it said nothing"])[0]
        return f"the process ended with exit code {exit_code(state)}: {last}"
    finally:
        end_group(state)
