"""What a block's size costs: the ceiling of one run's requests for other sizes, and a run that had another size.

The ceilings are worked out from what a run keeps (see `analysis.block_sizes`); that this is right is shown on the size
which the run had, whose ceiling it has kept itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from labkit.analysis.block_sizes import at_most, by_block_size, ceilings_at
from labkit.analysis.cache import cache_use
from labkit.analysis.format import count, missing, percent
from labkit.analysis.tables import STEP_KEY, numbers
from labkit.core.errors import BadInput
from labkit.experiments.lessons.caching import ON
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, records
from labkit.plots.rows import finished
from labkit.store.runs import Run

_SAME = 0.005
"""Rates that differ by less are called the same: half a point."""


def block_size_of(run: Run) -> int:
    """Tokens in a block of the engines that served this run. Raises BadInput when they had several, or said none."""
    sizes = [event.get("block_size") for event in run.events() if event["type"] == "serving"]
    if len(set(sizes)) != 1 or not isinstance(sizes[0], int):
        raise BadInput("RUN", run.id, "a run whose engines all had one block size, and said it")
    return sizes[0]


def of_arm(steps: pd.DataFrame, arm: str = ON) -> pd.DataFrame:
    """The steps of one arm."""
    return steps[steps["arm"] == arm]


def checked(steps: pd.DataFrame, block_size: int) -> Outcome:
    """Whether the ceiling that is worked out at the run's own size is the one that the run has kept, step by step."""
    known = ceilings_at(steps, block_size)
    known = known[known["ceiling_tokens"].notna()]
    same = int((numbers(known, "ceiling_tokens") == numbers(known, "ceiling_at")).sum())
    saw = f"at {block_size} tokens it is the ceiling that the run kept in {same} of {counted(len(known), 'step')}"
    return Outcome(same == len(known) if len(known) else None, saw)


def size_table(steps: pd.DataFrame, sizes: Sequence[int]) -> pd.DataFrame:
    """One row per block size: what could be cached, of how many prompt tokens, and what rounding takes from a step."""
    rows = [row for row in records(by_block_size(steps, sizes)) if row["n"]]
    table = [
        {
            "tokens in a block": row["block_size"],
            "n": row["n"],
            "prompt tokens": count(row["prompt"]),
            "seen before": count(row["shared"]),
            "ceiling": count(row["ceiling"]),
            "of the prompts": percent(row["hit_ceiling"]),
            "rounded off a step": f"{(row['shared'] - row['ceiling']) / row['n']:.0f}",
        }
        for row in rows
    ]
    columns = [
        "tokens in a block",
        "n",
        "prompt tokens",
        "seen before",
        "ceiling",
        "of the prompts",
        "rounded off a step",
    ]
    return pd.DataFrame(table, columns=columns).set_index("tokens in a block")


def costs_a_tenth(steps: pd.DataFrame, block_size: int, larger: int) -> Outcome:
    """Whether blocks of `larger` tokens would take a tenth of the ceiling, or more, from these requests."""
    own, other = records(by_block_size(steps, [block_size, larger]))
    if not own["ceiling"]:
        return unmeasured("no step shared a whole block with one before")
    taken = percent(1 - other["ceiling"] / own["ceiling"])
    saw = (
        f"blocks of {larger} tokens instead of {block_size} take {taken} of the ceiling, which is "
        f"{percent(other['hit_ceiling'])} of the prompt tokens then (n = {counted(own['n'], 'step')})"
    )
    return Outcome(other["ceiling"] <= 0.9 * own["ceiling"], saw)


def short_prompts(lengths: Sequence[int], sizes: Sequence[int]) -> pd.DataFrame:
    """Of a prompt of so many tokens that is sent again word for word: the share that can hit, a column per size."""
    rows = {length: [percent(at_most(length, size) / length) for size in sizes] for length in lengths}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=[f"blocks of {size}" for size in sizes])
    return table.rename_axis("prompt tokens")


def as_worked_out(steps: pd.DataFrame, other: pd.DataFrame, block_size: int) -> Outcome:
    """Whether a run with this block size hit what was worked out for the same requests from a run with another.

    `steps`: of the run that it is worked out from; `other`: of the run that had the size. Both of the arm with caching.
    """
    same = _same_requests(of_arm(steps), of_arm(other))
    (expected,) = records(by_block_size(of_arm(steps).merge(same, on=STEP_KEY), [block_size]))
    use = cache_use(finished(of_arm(other)).merge(same, on=STEP_KEY))
    if missing(expected["hit_ceiling"]) or use.hit_rate is None:
        return unmeasured(f"no request was measured with blocks of {block_size} tokens and with others")
    saw = (
        f"with blocks of {block_size} tokens {percent(use.hit_rate)} of the prompt tokens came from the cache, and "
        f"{percent(expected['hit_ceiling'])} was worked out (n = {counted(len(same), 'step')})"
    )
    return Outcome(abs(use.hit_rate - expected["hit_ceiling"]) < _SAME, saw)


def _same_requests(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Keys of the steps that both have finished with a prompt of the same length."""
    key = [*STEP_KEY, "prompt_tokens"]
    return finished(one)[key].merge(finished(other)[key], on=key)[STEP_KEY]


def measured_size(steps: pd.DataFrame, other: Run | None) -> Outcome:
    """`as_worked_out` of a run with another block size; None: there is none."""
    if other is None:
        return unmeasured("no run with another block size is there")
    return as_worked_out(steps, other.steps(), block_size_of(other))
