"""What vLLM says to the article's lines: asked now, or as the machine that this project was made on was told.

    python -m labkit.experiments.lessons.article_answers        asks the vLLM that is here, and writes the answers down

They are kept beside the claims, in `data/claims/vllm-answers.json`, with the version that was asked and the date.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from labkit.core.errors import BadInput
from labkit.core.paths import data_dir
from labkit.engines.accepts import Answers, ask, engine_python
from labkit.engines.profiles import load_profile
from labkit.experiments.lessons.article_lines import all_questions
from labkit.experiments.lessons.article_models import STAND_INS
from labkit.experiments.lessons.measured import ENGINES

FILE = "vllm-answers.json"
AGAIN = "python -m labkit.experiments.lessons.article_answers"
_PROFILE = "cpu-smollm2"


def article_answers(engine: str, profile: str = _PROFILE, say: Callable[[str], None] = print) -> Answers:
    """`live`: ask the engine of this profile, within the time that `accepts.ask` allows. `stored`: read what was kept.

    Says which of the two it is. Raises BadInput for another `engine` or kept answers that lack a question,
    UnknownName for the profile.
    """
    if engine not in ENGINES:
        raise BadInput("ENGINE", engine, " or ".join(ENGINES))
    told = read_answers() if engine == "stored" else ask(all_questions(), STAND_INS, python=_python(profile))
    say(asked_of(told, engine))
    return told


def _python(profile: str) -> str | None:
    return engine_python(load_profile(profile))


def asked_of(told: Answers, engine: str) -> str:
    """`stored answers of vLLM 0.32.0, asked on 2026-11-30, not on this machine`; or of the one that is here."""
    n = f"{len(told.answers)} lines"
    if told.vllm is None:
        why = told.answers[0].said if told.answers else "nothing was asked"
        return f"{n} cannot be asked here: {why}."
    if engine == "stored":
        return f"stored answers: vLLM {told.vllm} was asked {n} on {told.asked_on}, on the machine of the stored runs."
    return f"live answers: the vLLM {told.vllm} that is installed here was asked {n}, in {told.seconds:.0f} s."


def answers_file() -> Path:
    return data_dir() / "claims" / FILE


def read_answers(path: Path | None = None) -> Answers:
    """The kept answers. Raises BadInput where the file is missing, damaged, or older than the questions."""
    path = path or answers_file()
    try:
        told = Answers.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(str(path), str(error), "a file of kept answers", f"Make it again: {AGAIN}") from error
    known = {answer.id for answer in told.answers}
    if missing := [question.id for question in all_questions() if question.id not in known]:
        raise BadInput(path.name, missing, "an answer to every question", f"Make it again: {AGAIN}")
    return told


def keep_answers(told: Answers, path: Path | None = None) -> Path:
    """Write them down, without the folders of this machine. Raises BadInput where vLLM did not answer all of them."""
    if lost := [answer.id for answer in told.answers if answer.status in ("not installed", "no answer")]:
        raise BadInput("answers", lost, "an answer to each", "Install the engine: make setup")
    path = path or answers_file()
    whole = replace(told, python=None).to_dict()
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    told_now = article_answers("live")
    print(f"written to {keep_answers(told_now).name}")
