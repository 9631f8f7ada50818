"""What somebody said of an engine's default, and what the engine itself says."""

from __future__ import annotations

import pandas as pd

from labkit.analysis.format import DASH
from labkit.core.names import pick
from labkit.engines.accepts import Answers, ask, engine_python
from labkit.engines.profiles import load_profile
from labkit.experiments.lessons.article_answers import read_answers
from labkit.experiments.lessons.article_lines import DEFAULT
from labkit.experiments.lessons.article_models import STAND_INS
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import records
from labkit.store.claims import load_claims

_SHOWN = {"claimed": "statement", "by": "source", "dated": "date", "keep in mind": "caution"}


def asked_by_default(engine: str, profile_name: str) -> Answers:
    """What vLLM sets for its cache when no flag is given. `stored`: as it was told once; else the one that is here.

    No engine is started: vLLM's own configuration runs in a process of its own. Raises UnknownName for the profile.
    """
    if engine == "stored":
        return read_answers()
    return ask([DEFAULT], STAND_INS, python=engine_python(load_profile(profile_name)))


def off_until_asked(answers: Answers) -> Outcome:
    """Whether vLLM caches nothing until a flag says so."""
    answer = answers.of(DEFAULT.id)
    if answer.status != "accepted":
        return unmeasured(f"nobody could be asked: {answer.said.rstrip('.')}")
    on, size = answer.read["enable_prefix_caching"], answer.read["block_size"]
    return Outcome(
        not on,
        f"vLLM {answers.vllm}, asked on {answers.asked_on} without any flag, has prefix caching "
        f"{'on' if on else 'off'}, and blocks of {size} tokens",
    )


def claim(name: str) -> pd.DataFrame:
    """One claim of `data/claims` before it is put to the test, in one column. Raises UnknownName.

    What is known of it today is left out: it is the answer to the prediction that follows.
    """
    rows = {str(row["id"]): row for row in records(load_claims())}
    row = pick("claim", name, rows, "labkit claims")
    return pd.DataFrame({name: {word: row[column] or DASH for word, column in _SHOWN.items()}})
