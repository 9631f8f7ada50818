"""The first lesson: what differs between arms, which part of a call each layer shortens, and what a turn waits for.

What a first look shows is told of one pass over a few steps: enough to see how a layer works, and not how much it pays.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from labkit.analysis.arms import MIN_PAIRS
from labkit.analysis.format import DASH, missing, percent, plain, seconds, times
from labkit.analysis.latency import ttft
from labkit.analysis.rank_correlation import rank_correlation
from labkit.analysis.tables import floats, numbers
from labkit.core.arms import BASE, arm_named
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import load_profile
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, records
from labkit.plots.rows import common
from labkit.plots.wall_ledger import ArmLedger, WallLedgerInfo

PREFIX, SPEC = "prefix", "spec"
SAME = 0.1
"""A part of a call within a tenth of base's is taken for the same: one pass on a shared machine scatters as much."""
FOLLOWS = 0.7
"""One measure follows another from this rank correlation on."""


def differences(profile: str, arms: Collection[str]) -> pd.DataFrame:
    """All that differs from base, a row a process and setting, a column an arm: text, empty where nothing differs.

    A dash: no such setting there. Raises UnknownName.
    """
    loaded = load_profile(profile)
    plans = {arm: make_plan(loaded, arm_named(arm)) for arm in dict.fromkeys([BASE.label, *arms])}
    found = [
        {"process": one.role, "setting": one.setting, BASE.label: one.left or DASH, arm: one.right or DASH}
        for arm, plan in plans.items()
        for one in diff(plans[BASE.label], plan)
    ]
    rows = pd.DataFrame(found, columns=["process", "setting", *plans], dtype="object")
    return rows.groupby(["process", "setting"], sort=False).first().fillna("")


def arms_shown(table: pd.DataFrame) -> pd.DataFrame:
    """`arm_table` for readers: time, tokens and how many pairs the ratio is over. A dash: not measured."""
    return pd.DataFrame([_arm(row) for row in records(table)]).set_index("arm")


def reads_more_than_it_writes(info: WallLedgerInfo) -> Outcome:
    """Whether base spends most of its seconds before the first token."""
    base = _of(info, BASE.label)
    if base is None or not base.first_s + base.rest_s:
        return unmeasured("base was not measured")
    share = base.first_s / (base.first_s + base.rest_s)
    said = f"base spends {percent(share)} of {seconds(base.first_s + base.rest_s)} before the first token ({_n(base)})"
    return Outcome(None if base.n < MIN_PAIRS else share > 0.5, said)


def each_shortens_its_part(info: WallLedgerInfo) -> Outcome:
    """Whether prefix caching shortens the time to the first token alone, and speculation only the time after it."""
    base = _of(info, BASE.label)
    found = [one for arm in (PREFIX, SPEC) if (one := _of(info, arm)) is not None]
    if base is None or not base.first_s or not base.rest_s or not found:
        return unmeasured("base was not measured beside prefix or spec")
    said = "; ".join(_shares(one, base) for one in found)
    holds = all(_own_part(one, base) for one in found)
    return Outcome(None if base.n < MIN_PAIRS else holds, f"{said} ({_n(base)} in each arm)")


def waits_for_what_is_new(steps: pd.DataFrame) -> Outcome:
    """Whether base's time to first token follows its prompt, and prefix's what it must compute more than its prompt.

    Turn by turn, without the first: it finds an empty cache in both arms. Rank correlations, on turns of both arms.
    """
    turns = _later_turns(steps)
    if not len(turns):
        return unmeasured("base and prefix have no later turn in common")
    base, prefix = (turns[turns["arm"] == arm] for arm in (BASE.label, PREFIX))
    with_prompt, cached_with_prompt = (
        rank_correlation(numbers(one, "ttft_s"), numbers(one, "prompt_tokens")) for one in (base, prefix)
    )
    with_new = rank_correlation(numbers(prefix, "ttft_s"), numbers(prefix, "new"))
    said = (
        f"from turn 2 on the time to first token follows the prompt's length with a rank correlation of "
        f"{plain(with_prompt)} under base; under prefix it is {plain(cached_with_prompt)} with the prompt's length and "
        f"{plain(with_new)} with the tokens that were computed (n = {counted(len(base), 'turn')} in each arm)"
    )
    if with_prompt is None or cached_with_prompt is None or with_new is None or len(base) < MIN_PAIRS:
        return Outcome(None, said)
    return Outcome(min(with_prompt, with_new) >= FOLLOWS and with_new > cached_with_prompt, said)


def _arm(row: dict[str, Any]) -> dict[str, str]:
    few = ", too few to tell" if row["too_few"] else ""
    return {
        "arm": str(row["arm"]),
        "switched by": str(row["switched_by"]),
        "steps (failed)": f"{row['n_steps']} ({row['n_failed']})",
        "time, summed": seconds(_number(row["e2e_s"])),
        "first token, median": seconds(_number(row["ttft_p50_s"])),
        "each further token, median": seconds(_number(row["tpot_p50_s"])),
        "prompt from cache": f"{percent(_number(row['hit_rate']))} of {percent(_number(row['hit_ceiling']))}",
        "tokens a round": plain(_number(row["acceptance_length"])),
        "as fast as base": f"{times(_number(row['ratio_to_base']))} (n {row['n_pairs']}{few})",
    }


def _number(value: Any) -> float | None:
    return None if missing(value) else float(value)


def _of(info: WallLedgerInfo, arm: str) -> ArmLedger | None:
    return next((one for one in info.arms if one.arm == arm), None)


def _n(one: ArmLedger) -> str:
    return f"n = {counted(one.n, 'step')}"


def _shares(one: ArmLedger, base: ArmLedger) -> str:
    first, rest = percent(one.first_s / base.first_s), percent(one.rest_s / base.rest_s)
    return f"{one.arm} takes {first} of base's time to the first token and {rest} of its time after it"


def _own_part(one: ArmLedger, base: ArmLedger) -> bool:
    """The part that is the layer's is shorter by more than SAME, and the other one within SAME."""
    first, rest = one.first_s / base.first_s, one.rest_s / base.rest_s
    own, other = (first, rest) if one.arm == PREFIX else (rest, first)
    return own < 1 - SAME and abs(other - 1) <= SAME


def _later_turns(steps: pd.DataFrame) -> pd.DataFrame:
    """Means by arm and turn, from the second on, of steps of both arms: `ttft_s`, `prompt_tokens`, `new` (computed)."""
    kept = common(steps[steps["arm"].isin([BASE.label, PREFIX])])
    if kept["arm"].nunique() < 2:
        return kept.iloc[:0]
    kept = kept[kept["turn"] > 1]
    new = numbers(kept, "prompt_tokens") - numbers(kept, "cached_tokens")
    kept = kept.assign(ttft_s=floats(ttft(kept)), new=new)
    return kept.groupby(["arm", "turn"])[["ttft_s", "prompt_tokens", "new"]].mean().reset_index()
