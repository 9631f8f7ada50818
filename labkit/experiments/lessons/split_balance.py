"""The lesson's arithmetic: what the split takes off the decoding engine, a turn, and what it costs the turn itself.

From pairs: the same request in an arm and in its twin without the split, one agent at a time. What can be saved is the
prefill that others would have stood still for; what is paid is the longer wait of the turn's own first token: prefill
on a part of the machine, the transfer, and the detour over router and second engine.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from labkit.analysis.format import percent, seconds
from labkit.analysis.tables import is_finished
from labkit.experiments.compared import compared
from labkit.experiments.dashboard.layers.rows import WITHOUT, matched
from labkit.experiments.lessons.interference import FEW
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted
from labkit.plots.twin_lines import TwinLinesInfo, twin_lines_info
from labkit.plots.wall_ledger import WallLedgerInfo, wall_ledger_info
from labkit.store.runs import Run

_COLUMNS = ("t_send", "t_first_token", "t_end", "prompt_tokens", "cached_tokens", "prefill_s", "transfer_s")


class Balance(NamedTuple):
    """Means over `n` pairs of a turn, seconds: `ttft` and `prefill` without the split and with it, `rest` of the reply.

    `transfer`: in the split arm. `prompt`, `new`: tokens of the prompt, and those that had to be computed.
    """

    plain: str
    split: str
    n: int
    prompt: float
    new: float
    ttft: tuple[float, float]
    prefill: tuple[float, float]
    transfer: float
    rest: tuple[float, float]

    @property
    def saved(self) -> float:
        """Seconds of prefill, a turn, that no stream on decode's engine stands still for any more."""
        return self.prefill[0]

    @property
    def paid(self) -> float:
        """Seconds that the turn's own first token comes later."""
        return self.ttft[1] - self.ttft[0]

    @property
    def smaller(self) -> float:
        """Of these, for prefill on a part of the machine."""
        return self.prefill[1] - self.prefill[0]

    @property
    def detour(self) -> float:
        """Of these, for what is neither prefill nor transfer: router, queues, a second engine's server."""
        return self.paid - self.smaller - self.transfer


def balance(run: Run, plain: str, split: str) -> Balance | None:
    """Of the requests that finished in both arms and told all of it; None without one."""
    pairs = matched(compared(run.info, run.steps()), split, plain, _COLUMNS)
    names = [
        name for name in map(str, pairs) if name.removesuffix(WITHOUT) in _COLUMNS and name != f"transfer_s{WITHOUT}"
    ]
    told = pairs[names].astype("float64").dropna()
    if not len(told):
        return None
    mean = told.mean()

    def both(value: str, since: str = "") -> tuple[float, float]:
        one, other = (mean[f"{value}{side}"] - (mean[f"{since}{side}"] if since else 0.0) for side in (WITHOUT, ""))
        return float(one), float(other)

    return Balance(
        plain=plain,
        split=split,
        n=len(told),
        prompt=float(mean["prompt_tokens"]),
        new=float(mean[f"prompt_tokens{WITHOUT}"] - mean[f"cached_tokens{WITHOUT}"]),
        ttft=both("t_first_token", "t_send"),
        prefill=both("prefill_s"),
        transfer=float(mean["transfer_s"]),
        rest=both("t_end", "t_first_token"),
    )


def balance_shown(found: Balance | None) -> pd.DataFrame:
    """The same for readers: a row a part, a column an arm, and the difference. A dash: there is no such part."""
    if found is None:
        return pd.DataFrame()
    rows: dict[str, tuple[float | None, float | None]] = {
        "prefill": found.prefill,
        "KV transfer": (None, found.transfer),
        "router, queues, servers": (found.ttft[0] - found.prefill[0], found.ttft[0] - found.prefill[0] + found.detour),
        "time to first token": found.ttft,
        "after the first token": found.rest,
    }
    columns = {
        found.plain: [seconds(one) for one, _ in rows.values()],
        found.split: [seconds(other) for _, other in rows.values()],
        "more with the split": [signed((other or 0.0) - (one or 0.0)) for one, other in rows.values()],
    }
    return pd.DataFrame(columns, index=pd.Index(rows, name=f"arithmetic mean of a turn, n = {found.n} pairs"))


def signed(value: float) -> str:
    """`+120 ms`, `-3.20 s`."""
    return f"{'+' if value >= 0 else '-'}{seconds(abs(value))}"


def split_costs_more_than_it_frees(found: Balance | None) -> Outcome:
    """Whether a turn's own first token is later by more than the prefill that others are spared."""
    if found is None:
        return unmeasured(
            "no request finished both with the split and without it and told its prefill and its transfer"
        )
    saw = (
        f"a turn had {found.prompt:,.0f} prompt tokens, {percent(1 - found.new / found.prompt)} of them cached, which "
        f"left {seconds(found.saved)} of prefill to split off; its own first token came {_later(found.paid)} under "
        f"{found.split} (means, n = {counted(found.n, 'pair')}): {signed(found.smaller)} for prefill on a part of the "
        f"machine, {signed(found.transfer)} for the transfer, {signed(found.detour)} for the detour"
    )
    return Outcome(None if found.n < FEW else found.paid > found.saved, saw)


def _later(value: float) -> str:
    return f"{seconds(abs(value))} {'later' if value >= 0 else 'sooner'}"


def first_tokens_by_turn(run: Run, plain: str, split: str) -> TwinLinesInfo:
    """Median time to the first token of each turn, with the split and without."""
    pairs = matched(compared(run.info, run.steps()), split, plain, ("t_send", "t_first_token"))
    return twin_lines_info(pairs, split, plain, "ttft")


def ledger(run: Run, *arms: str) -> WallLedgerInfo:
    """Where the seconds of these arms went, over the steps that all of them finished."""
    steps = compared(run.info, run.steps())
    return wall_ledger_info(steps[steps["arm"].isin(arms) & is_finished(steps)])
