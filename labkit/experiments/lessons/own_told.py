"""What a recording promised, held against the run that replayed it: the numbers behind each "as predicted"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.arms import MIN_PAIRS, ratio
from labkit.analysis.format import count, percent, plain, seconds, times
from labkit.analysis.tables import measured, numbers, share, total
from labkit.core.arms import BASE, arm_named
from labkit.doctor.records import Check
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, records
from labkit.traffic.recording import Recording

PREFIX = "prefix"
SAME_SHARE = 0.02
"""Shares of tokens this close are the same: they are counted, not timed."""
SAME_TIME = 0.25
"""A time within a quarter of the predicted one: two paces know nothing of what a step costs besides its tokens."""


def solved(recording: Recording) -> Outcome:
    """Whether the hidden check of the recorded attempt said no."""
    header, steps = recording.header, counted(len(recording.steps), "call")
    if header.reached is None:
        return unmeasured(f"nobody checked what {header.name} left")
    verdict = "passes" if header.reached else "fails"
    return Outcome(not header.reached, f"after {steps} decided by {header.decided_by} the hidden check {verdict} (n 1)")


def prefixes_hold(checks: Mapping[str, Sequence[Check]]) -> Outcome:
    """Whether the doctor found that every request extends the one before, as sent and as the template writes it."""
    every = [(name, each) for name, found in checks.items() for each in found]
    broken = [f"{name}: {each.found}" for name, each in every if each.status in ("fail", "warn")]
    unknown = [name for name, each in every if each.status == "unknown"]
    fine = len(every) - len(broken) - len(unknown)
    said = f"{fine} of {counted(len(every), 'check')} of {counted(len(checks), 'recording')} are ok"
    if broken:
        return Outcome(False, f"{said}, and the first that breaks is {broken[0]}")
    if unknown:
        return Outcome(None, f"{said}, and {len(unknown)} could not be made here")
    return Outcome(True, said)


def cache_serves(turns: pd.DataFrame, table: pd.DataFrame) -> Outcome:
    """Whether prefix caching served all that repeats, and no more."""
    row, promised = _row(table, PREFIX), share(numbers(turns, "repeated_tokens"), numbers(turns, "prompt_tokens"))
    if row is None or pd.isna(row["hit_rate"]):
        return unmeasured("no arm with prefix caching alone was measured")
    if promised is None:
        return unmeasured("the recording has no token counts")
    said = (
        f"{percent(row['hit_rate'])} of {_prompts(row)} came from the cache under {PREFIX}, and {percent(promised)} "
        f"repeat ({_steps(row)})"
    )
    return Outcome(abs(row["hit_rate"] - promised) <= SAME_SHARE, said)


def text_bounds_the_cache(turns: pd.DataFrame, table: pd.DataFrame) -> Outcome:
    """Whether the share of characters that repeat is more than the share of tokens that the cache served."""
    row, promised = _row(table, PREFIX), share(numbers(turns, "repeated_chars"), numbers(turns, "prompt_chars"))
    if row is None or promised is None or pd.isna(row["hit_rate"]):
        return unmeasured("no arm with prefix caching alone was measured")
    said = (
        f"{percent(row['hit_rate'])} of {_prompts(row)} came from the cache under {PREFIX}, of "
        f"{percent(row['hit_ceiling'])} that whole blocks allow, and {percent(promised)} of the characters repeat "
        f"({_steps(row)})"
    )
    return Outcome(row["hit_rate"] <= promised + SAME_SHARE, said)


def drafts_stay_below(turns: pd.DataFrame, steps: pd.DataFrame, arm: str) -> Outcome:
    """Whether each forward pass yielded no more tokens than copied pieces would."""
    bound, row = share(numbers(turns, "pieces"), numbers(turns, "passes")), _speculated(steps, arm)
    if row is None or bound is None:
        return unmeasured(f"no drafts were measured under {arm}")
    tokens, passes, n = row
    said = (
        f"a pass yielded {plain(tokens / passes)} tokens under {arm}, and copying alone promised at most "
        f"{plain(bound)} pieces ({count(tokens)} tokens, n = {counted(n, 'step')})"
    )
    return Outcome(tokens / passes <= bound, said)


def takes_as_long(predicted: pd.DataFrame, table: pd.DataFrame, arm: str) -> Outcome:
    """Whether an arm took about the seconds that it should."""
    row, should = _row(table, arm), _row(predicted, arm)
    if row is None or pd.isna(row["e2e_s"]):
        return unmeasured(f"{arm} was not measured")
    if should is None or pd.isna(should["predicted_s"]):
        return unmeasured("the recording tells no times to predict from")
    off = row["e2e_s"] / should["predicted_s"]
    said = (
        f"{arm} took {seconds(row['e2e_s'])}, {times(off)} the predicted {seconds(should['predicted_s'])} "
        f"({_steps(row)})"
    )
    return Outcome(1 - SAME_TIME <= off <= 1 + SAME_TIME, said)


def pays_most(predicted: pd.DataFrame, steps: pd.DataFrame, both: str) -> Outcome:
    """Whether the layer that should save more seconds did: prefix caching over base, or the drafts of `both` on top."""
    should = [_saved(predicted, BASE.label, PREFIX), _saved(predicted, PREFIX, both)]
    did = [ratio(steps, BASE.label, PREFIX), ratio(steps, PREFIX, both)]
    if any(each is None for each in should) or not all(each.n_pairs for each in did):
        return unmeasured(f"{BASE.label}, {PREFIX} and {both} were not all predicted and measured")
    saved = [(each.base_s or 0.0) - (each.arm_s or 0.0) for each in did]
    gains = [times(each.ratio) for each in did]
    n = min(each.n_pairs for each in did)
    said = (
        f"prefix caching {_moved(saved[0])} ({gains[0]} as fast as base) and drafts {_moved(saved[1])} more "
        f"({gains[1]} as fast again), where savings of {seconds(should[0])} and {seconds(should[1])} were "
        f"predicted (n = {counted(n, 'step')} in each arm)"
    )
    same = (saved[0] > saved[1]) == ((should[0] or 0.0) > (should[1] or 0.0))
    return Outcome(None if n < MIN_PAIRS else same, said)


def _moved(seconds_saved: float) -> str:
    return f"{'saved' if seconds_saved >= 0 else 'cost'} {seconds(abs(seconds_saved))}"


def _saved(predicted: pd.DataFrame, slow: str, fast: str) -> float | None:
    rows = [_row(predicted, slow), _row(predicted, fast)]
    known = [row["predicted_s"] for row in rows if row is not None and not pd.isna(row["predicted_s"])]
    return float(known[0] - known[1]) if len(known) == len(rows) else None


def _speculated(steps: pd.DataFrame, arm: str) -> tuple[int, int, int] | None:
    """Tokens, forward passes and steps of an arm, where its drafts were counted."""
    kept = measured(steps)
    kept = kept[(kept["arm"] == arm) & kept["accepted_tokens"].notna() & kept["completion_tokens"].notna()]
    if not len(kept) or not arm_named(arm).speculation:
        return None
    tokens, accepted = total(numbers(kept, "completion_tokens")), total(numbers(kept, "accepted_tokens"))
    return round(tokens or 0), round((tokens or 0) - (accepted or 0)), len(kept)


def _row(table: pd.DataFrame, arm: str) -> dict[str, Any] | None:
    return next((row for row in records(table) if row["arm"] == arm), None)


def _prompts(row: dict[str, Any]) -> str:
    return f"{count(row['prompt_computed'] + row['prompt_cached'])} prompt tokens"


def _steps(row: dict[str, Any]) -> str:
    return f"n = {counted(int(row['n_steps'] - row['n_failed']), 'step')}"
