"""What each kind of token took: an arm's seconds, shared out over the tokens that they went to.

    computed prompt token     prefill of base / prompt tokens that base computed
    cached prompt token       (prefill of the arm - its computed tokens at that rate) / its cached tokens
    generated token           decode / generated tokens

All arms are taken over the steps that every one of them finished, so their sums can be compared. Computed tokens of an
arm with a cache stand at the end of long prompts, where each attends to more: what a cached token is said to take is
rather too much than too little.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from labkit.analysis.format import DASH, count, seconds, times, usd
from labkit.analysis.tables import numbers, total_tokens
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import counted
from labkit.plots.rows import common
from labkit.plots.wall_ledger import ArmLedger, wall_ledger_info

CHEAP = 0.1


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Seconds and tokens of one arm over `n` steps of `n_tasks` tasks, repeats counted once; tools apart.

    Tokens None: not told. `thrown`: drafted tokens that were not accepted.
    """

    arm: str
    n: int
    n_tasks: int
    prefill_s: float
    decode_s: float
    other_s: float
    tool_s: float
    computed: int | None
    cached: int | None
    generated: int | None
    thrown: int | None

    @property
    def total_s(self) -> float:
        """Without the tools."""
        return self.prefill_s + self.decode_s + self.other_s


def spent(steps: pd.DataFrame) -> dict[str, Spent]:
    """By arm, in the lab's order; over the steps that all arms have in common. `steps`: those that count."""
    kept = common(steps[steps["t_first_token"].notna()])
    return {one.arm: _spent(one, kept[kept["arm"] == one.arm]) for one in wall_ledger_info(steps).arms}


def _spent(one: ArmLedger, steps: pd.DataFrame) -> Spent:
    parts = one.drawn
    prefill = parts.get("prefill", parts.get("first", 0.0))
    decode = parts.get("decode", parts.get("rest", 0.0))
    tool = parts.get("tool", 0.0)
    prompt, cached = numbers(steps, "prompt_tokens"), numbers(steps, "cached_tokens")
    return Spent(
        arm=one.arm,
        n=one.n,
        n_tasks=int(steps["task"].nunique()),
        prefill_s=prefill,
        decode_s=decode,
        other_s=max(0.0, one.total_s - prefill - decode - tool),
        tool_s=tool,
        computed=total_tokens(prompt - cached),
        cached=total_tokens(cached),
        generated=total_tokens(numbers(steps, "completion_tokens")),
        thrown=total_tokens(numbers(steps, "drafted_tokens") - numbers(steps, "accepted_tokens")),
    )


def cached_token_s(base: Spent, arm: Spent) -> float | None:
    """Seconds that a cached prompt token took; None without one, or without a computed one to go by."""
    if not arm.cached or not base.computed or arm.computed is None:
        return None
    return (arm.prefill_s - arm.computed * base.prefill_s / base.computed) / arm.cached


def kinds(base: Spent, arm: Spent, usd_per_hour: float) -> pd.DataFrame:
    """A row for each kind of token: how many, what one took, what a million of them cost at this hour."""
    computed_s = base.prefill_s / base.computed if base.computed else None
    rows = [
        ("prompt, computed", base.arm, base.computed, computed_s),
        ("prompt, cached", arm.arm, arm.cached, cached_token_s(base, arm)),
        ("generated", base.arm, base.generated, base.decode_s / base.generated if base.generated else None),
        ("generated", arm.arm, arm.generated, arm.decode_s / arm.generated if arm.generated else None),
    ]
    return pd.DataFrame(
        [
            {
                "token": kind,
                "arm": label,
                "tokens": count(n),
                "one took": seconds(each),
                "per million": DASH if each is None else usd(each * usd_per_hour / 3600 * 1e6),
                "over a computed one": DASH if each is None or not computed_s else times(each / computed_s),
            }
            for kind, label, n, each in rows
        ]
    )


def cached_is_cheap(base: Spent, arm: Spent) -> Outcome:
    """Whether a cached prompt token took less than a tenth of a computed one."""
    each = cached_token_s(base, arm)
    if each is None or not base.computed:
        return Outcome(None, f"no prompt token of {arm.arm} came from the cache, or the engine did not say")
    share = each / (base.prefill_s / base.computed)
    size = "nothing that could be measured" if share <= 0 else f"{times(share)} of a computed one"
    n = f"n = {counted(arm.n, 'step')} of {counted(arm.n_tasks, 'task')}, with {count(arm.cached)} cached tokens"
    return Outcome(share < CHEAP, f"a cached token took {size} ({n})")
