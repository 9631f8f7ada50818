"""How the notebook's predictions fared: whether each holds, and what was seen, from the answers and the tables."""

from __future__ import annotations

import pandas as pd

from labkit.engines.accepts import Answer, Answers
from labkit.experiments.lessons.article import Evidence, judged_line
from labkit.experiments.lessons.article_judged import AGREES, UNASKED, UNSEEN, VERDICTS
from labkit.experiments.lessons.article_lines import DEFAULT, LINES, MISSPELT, Line
from labkit.experiments.lessons.article_words import code_span, first_line, ignored_words, one_line
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import counted, listed, records


def import_saw(answers: Answers) -> Outcome:
    """Of the prediction that the article's import fails."""
    answer = answers.of(LINES[0].written.id)
    if answer.status in UNASKED:
        return Outcome(None, answer.said)
    if answer.status == "accepted":
        return Outcome(False, "the engine's Python imports it")
    return Outcome(True, f"the engine's Python says {code_span(first_line(answer.said))}")


def names_saw(answers: Answers) -> Outcome:
    """Of the prediction that an engine stops at every name that it does not know."""
    found = [answers.of(line.written.id) for line in LINES]
    if lost := _unasked(found):
        return Outcome(None, lost)
    ignored, refused = ([answer for answer in found if answer.status == status] for status in ("ignored", "refused"))
    silent = sum(not answer.warned for answer in ignored)
    told = (
        f"of {len(found)} lines it refuses {len(refused)} and ignores {len(ignored)}, {silent} of them without a word"
    )
    return Outcome(not ignored, told)


def misspelt_saw(answers: Answers) -> Outcome:
    """Of the prediction that today's own key, misspelt, is ignored as the article's are."""
    answer = answers.of(MISSPELT.id)
    if lost := _unasked([answer]):
        return Outcome(None, lost)
    if answer.status == "ignored":
        return Outcome(True, f"with one letter missing, {ignored_words(answer)}")
    return Outcome(False, f"the misspelt key is {answer.status}")


def reuse_saw(answers: Answers, table: pd.DataFrame) -> Outcome:
    """Of the article's word that nothing is reused between turns by default. `table`: of the article's claims."""
    answer = answers.of(DEFAULT.id)
    if lost := _unasked([answer]):
        return Outcome(None, lost)
    row = next(row for row in records(table) if row["claim"].startswith("vLLM does not reuse"))
    return Outcome(row["verdict"] == AGREES, row["because"])


def verdicts_saw(table: pd.DataFrame, most: str = UNSEEN) -> Outcome:
    """Of the prediction that more than half of a table's claims have this verdict."""
    if not len(table):
        return Outcome(None, "there is no such claim")
    found = table["verdict"].value_counts()
    said = listed(f"{found[verdict]} {_verb(verdict, int(found[verdict]))}" for verdict in VERDICTS if verdict in found)
    return Outcome(bool(2 * found.get(most, 0) > len(table)), f"of {counted(len(table), 'claim')}, {said}")


def _verb(verdict: str, n: int) -> str:
    return {"agrees": "agree", "differs": "differ"}.get(verdict, verdict) if n != 1 else verdict


def _unasked(found: list[Answer]) -> str:
    return next((answer.said for answer in found if answer.status in UNASKED), "")


def to_change(found: Evidence) -> str:
    """What a reader of the article writes today, as a list in Markdown: each line that does not do what it says.

    Of three kinds: a line that says the same, no equivalent but a nearest one with its limit, and nothing to set.
    """
    if lost := _unasked([found.answers.of(line.written.id) for line in LINES]):
        return f"Nobody could be asked here: {lost}."
    return "\n".join(_change(line, found) for line in LINES if judged_line(line, found).verdict != AGREES)


def _change(line: Line, found: Evidence) -> str:
    before = f"- `{one_line(line.written.text)}`: {judged_line(line, found).because}."
    if line.today is None:
        return f"{before} **Leave it out**: {line.limit or 'there is nothing to set'}."
    today = f"`{one_line(line.today.text)}` ({found.answers.of(line.today.id).status})"
    return (
        f"{before} **No equivalent**; nearest is {today}: {line.limit}."
        if line.limit
        else f"{before} **Write** {today}."
    )
