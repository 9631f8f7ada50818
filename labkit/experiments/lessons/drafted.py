"""After drafts were measured: what the run says to each prediction, as a clause with its numbers for `told`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from labkit.analysis.acceptance import acceptance
from labkit.analysis.draft_promise import expected_length, given_before
from labkit.analysis.drafters import by_method
from labkit.analysis.format import missing, percent, plain, seconds, times
from labkit.analysis.ratios import ratio_of_sums
from labkit.analysis.tables import is_finished, measured, numbers
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import counted, listed, records

TOLERANCE = 0.1
"""Rounds that last so much longer or shorter than promised, as a share, still keep the promise."""
NEAR = 0.05
"""Shares this close to each other are not told apart."""
_FORMS = ["method", "says", "n", "drafted", "a_round", "rate", "rate_low", "rate_high", "length"]


def guessed(drafters: pd.DataFrame, better: str = "draft_model", other: str = "ngram") -> Outcome:
    """Whether one drafter has a larger share accepted than another; from `drafter_table`."""
    rows = {row["method"]: row for row in records(drafters[drafters["by"] == "all"])}
    saw = listed(
        f"{name} had {percent(row['rate'])} of {row['drafted']:,} drafted tokens accepted, "
        f"{plain(row['length'])} tokens a round (n = {counted(row['n'], 'step')})"
        for name, row in rows.items()
    )
    if better not in rows or other not in rows:
        return Outcome(None, saw or "nothing was drafted")
    return Outcome(_larger(rows[better], rows[other]), saw)


def _larger(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool | None:
    """Whether one rate is larger, by intervals that do not touch; False, too, where all of both lies within NEAR."""
    ends = [row[name] for row in (one, other) for name in ("rate_low", "rate_high")]
    if any(missing(end) for end in ends):
        return None
    if one["rate_low"] > other["rate_high"]:
        return True
    return False if max(ends) - min(ends) <= NEAR or one["rate_high"] < other["rate_low"] else None


def rounds_last(rounds: pd.DataFrame, promises: pd.DataFrame) -> Outcome:
    """Whether rounds last the passes that the formula says, within TOLERANCE."""
    kept, few, said = [], False, []
    for row, passes in _beside(rounds, promises):
        lasted = float(row["round_passes"])
        kept.append(abs(lasted / passes - 1) <= TOLERANCE)
        few |= bool(row["too_few"])
        said.append(
            f"a round of {row['method']} lasted {plain(lasted)} passes where the formula has {plain(passes)} "
            f"(n = {counted(row['n_pairs'], 'pair')})"
        )
    return Outcome(None if few or not kept else all(kept), listed(said) or "no round could be timed")


def pays(rounds: pd.DataFrame, promises: pd.DataFrame) -> Outcome:
    """Whether drafters give more time than they take just where rounds yield more tokens than the formula's passes."""
    kept, few, said = [], False, []
    for row, passes in _beside(rounds, promises):
        given, taken = float(row["given_s"]), float(row["taken_s"])
        kept.append((row["length"] > passes) == (given > taken))
        few |= bool(row["too_few"])
        said.append(
            f"{row['method']} yielded {plain(row['length'])} tokens a round where {plain(passes)} break even, gave "
            f"{seconds(given)} and took {seconds(taken)}, so decoding was {_pace(row['decode_gain'])} "
            f"(n = {counted(row['n_pairs'], 'pair')})"
        )
    return Outcome(None if few or not kept else all(kept), listed(said) or "no round could be timed")


def _beside(rounds: pd.DataFrame, promises: pd.DataFrame) -> list[tuple[dict[str, Any], float]]:
    """The drafters on all steps whose rounds were timed, each with the passes that it promised."""
    passes = dict(zip(promises["method"], promises["passes"], strict=True))
    rows = records(rounds[(rounds["by"] == "all") & rounds["round_passes"].notna()])
    return [(row, float(passes[row["method"]])) for row in rows if not missing(passes.get(row["method"]))]


def _pace(gain: float) -> str:
    return f"{times(gain)} as fast" if gain >= 1 else f"{times(1 / gain)} as long"


def forms(steps: pd.DataFrame) -> pd.DataFrame:
    """Acceptance of replies that call a tool, and of the others, with the rate's 95 % interval; columns as _FORMS.

    `a_round`: tokens proposed in a round; `length`: tokens that it yields.
    """
    kept = measured(steps)
    kept = kept[is_finished(kept) & (kept["mode"] != "pinned")]
    rows = []
    for method, mine in by_method(kept):
        calls = mine["tool_name"].notna()
        for says, some in (("tool call", mine[calls]), ("free text", mine[~calls])):
            of = acceptance(some)
            if of.n:
                a_round = of.drafted / of.drafts if of.drafted is not None and of.drafts else None
                span = ratio_of_sums(
                    numbers(some, "accepted_tokens"), numbers(some, "drafted_tokens"), some["task"].tolist()
                )
                rows.append((method, says, of.n, of.drafted, a_round, of.rate, span.low, span.high, of.length))
    return pd.DataFrame(rows, columns=_FORMS)


def calls_guess_better(table: pd.DataFrame, method: str) -> Outcome:
    """Whether a drafter has a larger share accepted in tool calls than in free text; from `forms`."""
    rows = {row["says"]: row for row in records(table[table["method"] == method]) if not missing(row["rate"])}
    saw = listed(
        f"{percent(row['rate'])} of {row['drafted']:,} tokens that {method} drafted for a {says} were accepted "
        f"(n = {counted(row['n'], 'step')})"
        for says, row in rows.items()
    )
    if len(rows) < 2:
        return Outcome(None, saw or f"{method} drafted nothing")
    return Outcome(_larger(rows["tool call"], rows["free text"]), saw)


def one_chance(positions: pd.DataFrame, drafters: pd.DataFrame, method: str) -> Outcome:
    """Whether each position of a draft is accepted with one chance, given the one before; `drafters`: drafter_table."""
    lengths = drafters[(drafters["method"] == method) & (drafters["by"] == "all")]["length"]
    length = float(lengths.iloc[0]) if len(lengths) else None
    mine = given_before(positions[positions["method"] == method])
    given = [float(share) for share in mine["given"].dropna()]
    if len(given) < 2 or length is None or missing(length):
        return Outcome(None, f"the positions of {method} were not counted")
    told = listed(percent(share) for share in given)
    promised = expected_length(given[0], len(mine))
    saw = (
        f"of the tokens of {method} whose token before was accepted, {told} were accepted at positions 1 to "
        f"{len(given)} (n = {counted(int(mine['drafts'].iloc[0]), 'round')}); with the first share alone a "
        f"round would yield {plain(promised)} tokens, and it yielded {plain(length)}"
    )
    return Outcome(max(given) - min(given) <= 2 * NEAR, saw)


def later_is_better(drafters: pd.DataFrame, method: str) -> Outcome:
    """Whether more is accepted in the last group of turns than in the first; from `drafter_table`."""
    rows = records(drafters[(drafters["by"] == "turn") & (drafters["method"] == method) & drafters["rate"].notna()])
    saw = listed(_turns(row) for row in rows)
    if len(rows) < 2:
        return Outcome(None, saw or f"{method} drafted nothing")
    return Outcome(_larger(rows[-1], rows[0]), saw)


def _turns(row: Mapping[str, Any]) -> str:
    return (
        f"{row['method']} had {percent(row['rate'])} accepted in turns {row['group']}{_between(row)}, "
        f"{plain(row['length'])} tokens a round (n = {counted(row['n'], 'step')})"
    )


def first_token_stays(rounds: pd.DataFrame) -> Outcome:
    """Whether the first token comes as early with drafts as without, within TOLERANCE; from `round_table`."""
    rows = records(rounds[(rounds["by"] == "all") & rounds["first_gain"].notna()])
    saw = listed(
        f"with {row['method']} the first token took {times(1 / row['first_gain'])} the time that it took without "
        f"(n = {counted(row['n_pairs'], 'pair')})"
        for row in rows
    )
    if not rows or any(row["too_few"] for row in rows):
        return Outcome(None, saw or "no first token could be timed")
    return Outcome(all(abs(row["first_gain"] - 1) <= TOLERANCE for row in rows), saw)


def _between(row: Mapping[str, Any]) -> str:
    """` [51 %, 64 %]`: the rate's interval, where there is one."""
    return "" if missing(row["rate_low"]) else f" [{percent(row['rate_low'])}, {percent(row['rate_high'])}]"
