"""The numbers of the live view's tiles: of one arm, over some of its steps, and what the machine did meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import arm_table
from labkit.analysis.concurrency import seconds_at
from labkit.analysis.tables import is_finished, null_if_nan, numbers, total
from labkit.core.energy import POWER
from labkit.experiments.dashboard.two_arms import Side
from labkit.telemetry.names import KV_USAGE

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
        kv_use=_kv_use(samples, side.steps),
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
    """Telemetry read while these steps ran."""
    samples = side.run.samples
    end = numbers(side.steps, "t_end")
    if not len(samples) or np.isnan(end).all():
        return samples.iloc[:0]
    return samples[samples["t"].between(side.steps["t_send"].min(), np.nanmax(end)) & samples["value"].notna()]


def _kv_use(samples: pd.DataFrame, steps: pd.DataFrame) -> float | None:
    """The engine's processes are the sources `<engine>/<role>`."""
    engines = set(steps["engine"])
    of_engine = samples["source"].str.rsplit("/", n=1).str[0].isin(engines)
    return null_if_nan(float(samples.loc[of_engine & (samples["name"] == KV_USAGE), "value"].max()))


def _machine(samples: pd.DataFrame) -> tuple[str, float | None]:
    power = samples[samples["source"].isin(_GPUS) & samples["name"].str.endswith(f"/{POWER}")]
    if len(power):
        return "GPU power (W)", float(power.groupby("name")["value"].mean().sum())
    busy = samples[(samples["source"] == "host") & (samples["name"] == "cpu_percent")]
    return "Host CPU (%)", null_if_nan(float(busy["value"].mean())) if len(busy) else None
