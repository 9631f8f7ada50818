"""The tables of the lesson on an agent's steps: what one to thirty calls cost, how fast that grows, and of what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from labkit.analysis.exponents import exponent_table
from labkit.analysis.format import DASH, missing, percent, plain, seconds
from labkit.analysis.growth import growth_table
from labkit.analysis.passes import PASS_KEY, passes
from labkit.analysis.utilisation import utilisation
from labkit.core.arms import BASE, arm_named
from labkit.core.conditions import of_steps
from labkit.experiments.report.english import counted, interval, records
from labkit.plots.steps_ledger import PART_NAMES, StepsLedgerInfo
from labkit.store.runs import Run

Row = dict[str, Any]
Shown = Callable[[Any], str]
PREFIX = "prefix"
FEW = 5
"""Fewer steps in the longest cut show nothing of growth."""
MEASURES = {"prompt_computed": "prompt tokens computed", "e2e_s": "time"}


def whole(value: Any) -> str:
    """`93,263`: sums that are compared to the token are not rounded."""
    return DASH if missing(value) else f"{value:,.0f}"


def mib(value: Any) -> str:
    """Bytes as `224 MiB`."""
    return DASH if missing(value) else f"{plain(value / 2**20)} MiB"


def _watts(value: Any) -> str:
    return DASH if missing(value) else f"{plain(value)} W"


_ROWS: dict[str, tuple[str, Shown]] = {
    "n_passes": ("passes (n)", whole),
    "prompt_sent": ("prompt tokens sent", whole),
    "prompt_computed": ("prompt tokens computed", whole),
    "generated": ("tokens generated", whole),
    "e2e_s": ("time, all calls", seconds),
    "step_s": ("time, a call", seconds),
    "ttft_s": ("time to first token, a call", seconds),
    "prefill_share": ("prefill, share of the time", percent),
    "peak_context": ("longest context, tokens", whole),
    "kv_bytes": ("KV cache of it", mib),
    "kv_usage_peak": ("KV cache in use, peak", percent),
    "cpu_busy": ("processor busy, mean", percent),
    "gpu_w": ("GPU power, mean", _watts),
}


def costs(run: Run) -> pd.DataFrame:
    """One row per arm and count: GrowthRow, and `step_s`, `ttft_s` (means of a call), `cpu_busy`, `gpu_w`."""
    steps, samples = run.steps(), run.samples()
    table = growth_table(steps, samples, run.info.fingerprint.get("kv_bytes_per_token"))
    conditions = [of_steps(count) for count in table["steps"]]
    table = table.assign(condition=conditions, step_s=table["e2e_s"] / table["steps"])
    table = table.merge(_first_tokens(steps), on=["arm", "steps"], how="left")
    return table.merge(utilisation(steps, samples), on=["arm", "condition"], how="left")


def growth_and_exponents(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables of `growth_table` and of `exponent_table`, as `growth_info` takes them."""
    steps = run.steps()
    return growth_table(steps, run.samples(), run.info.fingerprint.get("kv_bytes_per_token")), exponent_table(steps)


def cost_table(run: Run) -> pd.DataFrame:
    """The same for readers: a row a measure, a column for each arm and count. A dash: not measured."""
    cells = {(row["arm"], row["steps"]): _cells(row) for row in records(costs(run))}
    return _by_arm_and_count(cells, [name for name, _ in _ROWS.values()], "an agent of so many steps")


def exponents_shown(of: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """How fast sums grow with the steps in each of these tables of steps, in words: exponent, interval, n, verdict."""
    rows = [_exponent(row) for steps in of for row in records(exponent_table(steps))]
    return pd.DataFrame(rows).set_index(["n", "arm", "what grows"]) if rows else pd.DataFrame()


def seconds_by_part(info: StepsLedgerInfo) -> pd.DataFrame:
    """Mean seconds of a call by what they went to: a row a part, a column for each arm and count.

    A dash: not measured, or no such part, as a transfer without a split.
    """
    bars = {(arm, bar.steps): bar.parts for arm, panel in info.panels.items() for bar in panel}
    there = {part for parts in bars.values() for part in parts}
    cells = {
        (arm, count): {
            name: seconds(parts.get(part)) if part != "transfer" or arm_named(arm).pd_split else DASH
            for part, name in PART_NAMES.items()
        }
        for (arm, count), parts in bars.items()
    }
    return _by_arm_and_count(cells, [name for part, name in PART_NAMES.items() if part in there], "seconds of a call")


def longest(run: Run) -> pd.DataFrame:
    """The steps of the largest count that every arm has a whole pass of: all turns of one agent. Empty without one."""
    steps, table = run.steps(), passes(run.steps())
    table = table[table["whole"]]
    arms = table.groupby("steps")["arm"].nunique()
    common = arms[arms == table["arm"].nunique()].index
    if not len(common):
        return steps.iloc[:0]
    return steps.merge(table.loc[table["steps"] == max(common), PASS_KEY], on=PASS_KEY)


def of_arm(rows: Iterable[Row], arm: str) -> list[Row]:
    """The rows of one arm whose computed tokens are known, fewest steps first."""
    return sorted(
        (row for row in rows if row["arm"] == arm and not missing(row["prompt_computed"])), key=lambda row: row["steps"]
    )


def longest_pair(rows: Iterable[Row]) -> tuple[Row, Row] | None:
    """The rows of base and of prefix at the most steps that both have; None without such."""
    rows = list(rows)
    base, prefix = ({row["steps"]: row for row in of_arm(rows, arm)} for arm in (BASE.label, PREFIX))
    common = max(set(base) & set(prefix), default=None)
    return None if common is None else (base[common], prefix[common])


def units(row: Row) -> str:
    """What an exponent is over: `6 tasks`, `1 pass of one task`."""
    if row["over"] == "tasks":
        return counted(row["n_units"], "task")
    return f"{counted(row['n_units'], 'pass', 'passes')} of {row['over'].removeprefix('repeats of ')}"


def _cells(row: Row) -> dict[str, str]:
    return {name: shown(row[key]) for key, (name, shown) in _ROWS.items()}


def _by_arm_and_count(cells: dict[tuple[str, int], dict[str, str]], names: list[str], title: str) -> pd.DataFrame:
    columns = pd.MultiIndex.from_tuples(list(cells), names=["arm", "steps"]) if cells else None
    rows = [[cell.get(name, DASH) for cell in cells.values()] for name in names]
    return pd.DataFrame(rows, index=pd.Index(names, name=title), columns=columns)


def _exponent(row: Row) -> dict[str, str]:
    return {
        "n": units(row),
        "arm": row["arm"],
        "what grows": MEASURES[row["measure"]],
        "steps": row["counts"],
        "exponent": plain(row["exponent"]),
        "95 % interval": interval(row),
        "last two counts": plain(row["last_exponent"]),
        "it grows": row["verdict"],
    }


def _first_tokens(steps: pd.DataFrame) -> pd.DataFrame:
    """Mean time to first token of the calls of whole passes, by arm and count."""
    table = passes(steps)
    kept = steps.merge(table.loc[table["whole"], [*PASS_KEY, "steps"]], on=PASS_KEY)
    kept = kept.assign(ttft_s=kept["t_first_token"] - kept["t_send"])
    return kept.groupby(["arm", "steps"])["ttft_s"].mean().reset_index()
