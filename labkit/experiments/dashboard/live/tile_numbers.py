"""The numbers of the live view's tiles: of one arm, over some of its steps, and what the machine did meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from labkit.analysis.arms import arm_table
from labkit.analysis.concurrency import seconds_at
from labkit.analysis.tables import Floats, is_finished, null_if_nan, numbers, total
from labkit.core.energy import POWER
from labkit.experiments.dashboard.live.two_arms import Side
from labkit.telemetry.engine_names import KV_USAGES

_GPUS = ("amdsmi", "nvml")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Seconds, shares from 0 to 1, tokens. `machine`: watts of all GPUs, or the host's CPU in percent; as its label."""

    arm: str
    ttft_s: float | None
    e2e_s: float | None
    hit_rate: float | None
    hit_ceiling: float | None
    acceptance: float | None
    acceptance_length: float | None
    tokens_per_s: float | None
    itl_p99_s: float | None
    kv_use: float | None
    machine_label: str
    machine: float | None


def numbers_of(side: Side) -> Numbers:
    """Of one arm's steps. None: not measured."""
    row = arm_table(side.steps, side.chunks).to_dict("records")[0]
    known = {str(name): None if pd.isna(value) else value for name, value in row.items()}
    samples = _while(side)
    label, machine = _machine(samples)
    return Numbers(
        arm=side.arm,
        ttft_s=known["ttft_p50_s"],
        e2e_s=known["e2e_p50_s"],
        hit_rate=known["hit_rate"],
        hit_ceiling=known["hit_ceiling"],
        acceptance=known["acceptance_rate"],
        acceptance_length=known["acceptance_length"],
        tokens_per_s=tokens_per_second(side.steps),
        itl_p99_s=known["itl_p99_s"],
        kv_use=_kv_use(samples, side),
        machine_label=label,
        machine=machine,
    )


def tokens_per_second(steps: pd.DataFrame) -> float | None:
    """Generated tokens over the seconds with a request under way; finished steps that reported both; else None."""
    done = steps[is_finished(steps) & steps["completion_tokens"].notna()]
    made = total(numbers(done, "completion_tokens"))
    if not made:
        return None
    sent, ended = numbers(done, "t_send"), numbers(done, "t_end")
    busy = sum(s for n, s in seconds_at(sent, ended, float(sent.min()), float(ended.max())).items() if n)
    return made / busy if busy > 0 else None


def _while(side: Side) -> pd.DataFrame:
    """Telemetry read while one of these steps ran: what lies between them may be another arm's, or nobody's."""
    samples = side.run.samples
    inside = _inside(numbers(samples, "t"), side.steps)
    return samples[inside & samples["value"].notna().to_numpy(dtype=bool)]


def _inside(t: Floats, steps: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Which moments lie in a step: more had been sent by then than had ended before."""
    sent, ended = numbers(steps, "t_send"), numbers(steps, "t_end")
    known = ~np.isnan(ended)
    begun = np.searchsorted(np.sort(sent[known]), t, side="right")
    over = np.searchsorted(np.sort(ended[known]), t, side="left")
    return np.asarray(begun > over, dtype=np.bool_)


def _shared(side: Side) -> bool:
    """Whether another arm used the same engine, told apart by salt, while these steps ran: its KV cache held both."""
    mine, every = side.steps, side.run.steps
    others = every[(every["arm"] != side.arm) & every["engine"].isin(mine["engine"].unique())]
    met = _inside(numbers(others, "t_send"), mine).any() or _inside(numbers(mine, "t_send"), others).any()
    return bool(met)


def _kv_use(samples: pd.DataFrame, side: Side) -> float | None:
    """The engine's processes are the sources `<engine>/<role>`; None where another arm used it at the same time."""
    if _shared(side):
        return None
    engines = set(side.steps["engine"])
    of_engine = samples["source"].str.rsplit("/", n=1).str[0].isin(engines)
    return null_if_nan(float(samples.loc[of_engine & samples["name"].isin(KV_USAGES), "value"].max()))


def _machine(samples: pd.DataFrame) -> tuple[str, float | None]:
    power = samples[samples["source"].isin(_GPUS) & samples["name"].str.endswith(f"/{POWER}")]
    if len(power):
        return "GPU power (W)", float(power.groupby("name")["value"].mean().sum())
    busy = samples[(samples["source"] == "host") & (samples["name"] == "cpu_percent")]
    return "Host CPU (%)", null_if_nan(float(busy["value"].mean())) if len(busy) else None
