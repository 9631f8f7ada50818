"""Whether drafts left the engine's words as they were: pair by pair, and where two texts part."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from labkit.analysis.drafter_gain import PAIR_KEY, reference
from labkit.analysis.drafters import by_method
from labkit.analysis.tables import is_finished, measured
from labkit.core.conditions import is_reference, method_of
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, listed, records
from labkit.store.said import Said
from labkit.traffic.said import said

_COLUMNS = ["method", "n_pairs", "n_tasks", "same_text", "same_length", "tokens_without", "tokens_with"]
_PARTINGS = ["method", "recording", "turn", "common_chars", "without", "with"]
_SHOWN = 40


def unchanged(steps: pd.DataFrame) -> pd.DataFrame:
    """Per drafter: pairs of finished natural steps, tasks, pairs with one text, with as many tokens, tokens of both."""
    kept = measured(steps)
    kept = kept[is_finished(kept) & (kept["mode"] != "pinned") & kept["text_sha256"].notna()]
    rows = []
    for method, mine in by_method(kept):
        pairs = mine.merge(reference(kept, method), on=PAIR_KEY, suffixes=("", "_without"))
        tokens, without = pairs["completion_tokens"], pairs["completion_tokens_without"]
        same = int((pairs["text_sha256"] == pairs["text_sha256_without"]).sum())
        alike = int((tokens == without).fillna(False).sum())
        rows.append((method, len(pairs), pairs["task"].nunique(), same, alike, int(without.sum()), int(tokens.sum())))
    return pd.DataFrame(rows, columns=_COLUMNS)


def all_the_same(table: pd.DataFrame) -> Outcome:
    """Whether each pair has one text; from `unchanged`, of one run or of several together."""
    summed = table.groupby("method", sort=False).agg({"n_pairs": "sum", "same_text": "sum", "n_tasks": "max"})
    summed = summed.reset_index()
    rows = [row for row in records(summed) if row["n_pairs"]]
    said_so = listed(
        f"{row['method']} left {row['same_text']} of {counted(row['n_pairs'], 'text')} of "
        f"{counted(row['n_tasks'], 'task')} unchanged"
        for row in rows
    )
    if not rows:
        return unmeasured("no step was measured with drafts and without")
    return Outcome(all(row["same_text"] == row["n_pairs"] for row in rows), f"in this run {said_so}")


def partings(replies: Iterable[Said]) -> pd.DataFrame:
    """Replies that differ from those without a drafter: how many characters both begin with, and how each goes on.

    Compared with whatever was measured without a drafter; empty where all are the same.
    """
    kept = [each for each in replies if each.reply is not None]
    plain = {_place(each): said(each.reply or {}) for each in kept if is_reference(each.condition)}
    rows = []
    for each in kept:
        method, other = method_of(each.condition), plain.get(_place(each))
        mine = said(each.reply or {})
        if method and other is not None and mine != other:
            at = _common(mine, other)
            rows.append((method, each.recording, each.turn, at, other[at : at + _SHOWN], mine[at : at + _SHOWN]))
    return pd.DataFrame(rows, columns=_PARTINGS)


def partings_in_words(replies: Iterable[Said]) -> str:
    """`partings`, a row for each; or that there is none, and of how many replies."""
    kept = list(replies)
    plain = {_place(each) for each in kept if each.reply is not None and is_reference(each.condition)}
    compared = sum(bool(method_of(each.condition)) and _place(each) in plain for each in kept if each.reply is not None)
    if not compared:
        return "No reply was kept both with a drafter and without, so where texts part is not known."
    found = partings(kept)
    return (
        found.to_string(index=False)
        if len(found)
        else f"None of {counted(compared, 'reply', 'replies')} parts from its pair."
    )


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    apart = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(apart, min(len(one), len(other)))


def _place(reply: Said) -> tuple[str, str, int, int, str]:
    """What a step and its pair have in common."""
    return reply.task, reply.recording, reply.repeat, reply.turn, reply.cache
