"""What became of the predictions on an agent's tokens and time: a clause each, computed from the run, with its n."""

from __future__ import annotations

import pandas as pd

from labkit.analysis.exponents import exponent_table
from labkit.analysis.format import missing, percent, plain, seconds, times
from labkit.analysis.growth import growth_table
from labkit.core.arms import BASE
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.lessons.steps import FEW, MEASURES, PREFIX, Row, longest, longest_pair, of_arm, units
from labkit.experiments.lessons.steps_predicted import predicted
from labkit.experiments.report.english import counted, interval, listed, records
from labkit.plots.steps_ledger import StepsBar, StepsLedgerInfo
from labkit.store.runs import Run
from labkit.traffic.recording import Recording

ALL = 0.995
DEARER = 0.01
"""A call that takes less than this share more is none the dearer."""
LITTLE_MORE = 1.25
"""What a cache computes may be so many times the last prompt: it loses a part of a block at each step."""


def tokens_as_predicted(run: Run, recording: Recording) -> Outcome:
    """Whether base computed, to the token, what the recording's prompts add up to, at each count."""
    rows = of_arm(records(growth_table(run.steps())), BASE.label)
    if not rows:
        return unmeasured("base was not measured in a whole pass")
    sums = predicted(recording, [row["steps"] for row in rows]).set_index("steps")["sent"]
    right = [row for row in rows if row["prompt_computed"] == sums.get(row["steps"])]
    most, last = rows[-1]["prompt_computed"], rows[-1]["steps"]
    said = f"base computed {most:,.0f} prompt tokens in {counted(last, 'step')}, where {sums.iloc[-1]:,} were predicted"
    agree = f"{len(right)} of {counted(len(rows), 'count')} of steps agree to the token"
    return Outcome(len(right) == len(rows), f"{said}; {agree} ({_passes(rows[-1])} each)")


def cache_leaves(run: Run) -> Outcome:
    """Whether prefix caching computes little more than the last prompt, at the most steps in common with base."""
    pair, last = longest_pair(records(growth_table(run.steps()))), longest(run)
    if pair is None or not len(last):
        return unmeasured("base and prefix have no whole pass of as many steps in common")
    base, prefix = pair
    prompt, computed = float(last["prompt_tokens"].max()), prefix["prompt_computed"]
    said = (
        f"at {counted(prefix['steps'], 'step')} prefix computed {computed:,.0f} prompt tokens where base computed "
        f"{base['prompt_computed']:,.0f}: {percent(computed / base['prompt_computed'])} of them, and "
        f"{times(computed / prompt)} the last prompt of {prompt:,.0f} ({_passes(prefix)} each)"
    )
    return Outcome(None if prefix["steps"] < FEW else computed <= LITTLE_MORE * prompt, said)


def worth_in_questions(run: Run) -> Outcome:
    """Whether N steps compute more than N times the tokens of one under base, and no more with a cache.

    N: the longest cut. The seconds are told beside it, and judged by `grows_faster`.
    """
    rows = records(growth_table(run.steps()))
    pair = longest_pair(rows)
    ones = {row["arm"]: row for row in rows if row["steps"] == 1 and not missing(row["prompt_computed"])}
    if pair is None or not {BASE.label, PREFIX} <= set(ones):
        return unmeasured("base and prefix were not both cut after one step and after more")
    tokens, time = (
        {row["arm"]: row[name] / ones[row["arm"]][name] for row in pair} for name in ("prompt_computed", "e2e_s")
    )
    each = listed(
        f"{times(tokens[arm])} the prompt tokens in {times(time[arm])} the time under {arm}" for arm in tokens
    )
    steps = pair[0]["steps"]
    said = (
        f"beside a single step, {counted(steps, 'step')} computed {each}; so in seconds {steps} steps are worth "
        f"{plain(time[PREFIX])} questions even with the cache ({_passes(pair[0])} each)"
    )
    return Outcome(None if steps < FEW else tokens[BASE.label] > steps >= tokens[PREFIX], said)


def grows_faster(steps: pd.DataFrame, measure: str) -> Outcome:
    """Whether `e2e_s` or `prompt_computed` grows faster than the steps under base: whether its interval is above 1."""
    rows = [row for row in records(exponent_table(steps)) if row["measure"] == measure]
    base = next((row for row in rows if row["arm"] == BASE.label), None)
    if base is None or missing(base["exponent"]):
        return unmeasured("base has no whole passes of two counts")
    powers = listed(_power(row) for row in rows)
    said = f"with the steps ({base['counts']}) {MEASURES[measure]} grew to the power of {powers}"
    holds = {"faster": True, "slower": False}.get(base["verdict"].split()[0])
    return Outcome(holds, f"{said} (n = {units(base)}, {counted(base['n_starts'], 'start')} of an engine)")


def prefill_makes_it(info: StepsLedgerInfo) -> Outcome:
    """Whether what a call of the longest cut takes more than one of the shortest is mostly prefill, under base."""
    bars = info.panels.get(BASE.label, ())
    if len(bars) < 2:
        return unmeasured("base has no two counts whose engine told its times")
    first, last = bars[0], bars[-1]
    more = last.total_s - first.total_s
    said = (
        f"under base a call takes {seconds(first.total_s)} at {counted(first.steps, 'step')} and "
        f"{seconds(last.total_s)} at {last.steps} (n = {last.n} calls)"
    )
    if more <= DEARER * first.total_s:
        return Outcome(None if last.steps < FEW else False, f"{said}: it does not get dearer")
    share = (last.parts["prefill"] - first.parts["prefill"]) / more
    queue = seconds(last.parts.get("queue"))
    part = "all" if share > ALL else percent(share)
    said = f"{said}; {part} of the difference is prefill, and only {queue} of a call is spent in the queue"
    return Outcome(None if last.steps < FEW else share > 0.5, said)


def decode_is_left(info: StepsLedgerInfo) -> Outcome:
    """Whether with caching a call's decode takes longer than its prefill, in the longest cut."""
    ends = {arm: info.panels[arm][-1] for arm in (BASE.label, PREFIX) if info.panels.get(arm)}
    if len(ends) < 2:
        return unmeasured("base and prefix were not both measured by an engine that told its times")
    prefill = " and ".join(f"{percent(_share(bar, 'prefill'))} under {arm}" for arm, bar in ends.items())
    cached = ends[PREFIX]
    said = (
        f"prefill is {prefill} of a call's time at {counted(cached.steps, 'step')}, and decode is "
        f"{percent(_share(cached, 'decode'))} under prefix (n = {cached.n} calls in each arm)"
    )
    return Outcome(None if cached.steps < FEW else cached.parts["decode"] > cached.parts["prefill"], said)


def _passes(row: Row) -> str:
    return f"n = {counted(row['n_passes'], 'pass', 'passes')}"


def _share(bar: StepsBar, part: str) -> float:
    """Of a call, tools left out."""
    return bar.parts[part] / (bar.total_s - bar.parts.get("tool", 0.0))


def _power(row: Row) -> str:
    span = "" if missing(row["low"]) else f" (95 % interval {interval(row)})"
    return f"{plain(row['exponent'])}{span} under {row['arm']}"
