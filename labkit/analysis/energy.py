"""Joules of an arm, from the energy counters and powers that were sampled beside the run.

    joules      = sum over devices of E(end) - E(start), summed over the windows of the arm's repeat
    idle_joules = sum over devices of idle power * seconds of these windows
    net_joules  = joules - idle_joules

E is the device's energy counter, between two samples on the straight line through them; a device without a counter has
the integral of its power (trapezoid over its samples). All devices that can be read count: the GPUs that prefill, those
that decode, those that wait, and the CPU packages. When one device's samples do not cover a window, the sum is null:
a part would pass for the whole. They do not cover it where they are far apart (at its ends; of a power anywhere), or
where the counter falls: a run that was resumed counts from 0 again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.nodes import is_near, nodes_of_repeats
from labkit.analysis.tables import Floats, numbers, typed_frame
from labkit.analysis.unbroken import grown, integral
from labkit.analysis.windows import Window, windows
from labkit.core.columns import column
from labkit.core.energy import ENERGY, IDLE_POWER, POWER
from labkit.core.records import Record

NOTHING_READ = "no energy counter and no power could be read on this machine"


@dataclass(frozen=True, kw_only=True)
class GroupJoulesRow(Record):
    """Energy of one arm under one condition in one repeat."""

    arm: str = column("string", "", "label of the arm")
    condition: str = column("string", "", "what was varied besides the arm; empty when nothing")
    cache: str = column("string", "", "`cold` or `warm`")
    repeat: int = column("int64", "", "pass number of the block")
    seconds: float = column("float64", "s", "length of the windows")
    joules: float | None = column("float64", "J", "energy of all devices in the windows", nullable=True)
    idle_joules: float | None = column(
        "float64", "J", "what they would have drawn at rest; null: not measured before the run", nullable=True
    )
    net_joules: float | None = column("float64", "J", "joules minus idle_joules", nullable=True)
    source: str = column("string", "", "what was read, such as `nvml: gpu0, gpu1`; empty when nothing was")
    why: str = column("string", "", "why joules is null; empty when it is not")


@dataclass(frozen=True, kw_only=True)
class JoulesRow(Record):
    """Energy of one arm in one repeat, over all its conditions."""

    arm: str = column("string", "", "label of the arm")
    repeat: int = column("int64", "", "pass number of the block")
    seconds: float = column("float64", "s", "length of the windows")
    joules: float | None = column("float64", "J", "energy of all devices in the windows", nullable=True)
    idle_joules: float | None = column("float64", "J", "what they would have drawn at rest", nullable=True)
    net_joules: float | None = column("float64", "J", "joules minus idle_joules", nullable=True)
    source: str = column("string", "", "what was read; empty when nothing was")
    why: str = column("string", "", "why joules is null; empty when it is not")


@dataclass(frozen=True)
class _Device:
    """`t` (s) and `value` of one device's samples, in order of time: J when `counts`, else W."""

    source: str
    name: str
    counts: bool
    t: Floats
    value: Floats
    idle_w: float | None


def joules(samples: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """One row for each arm and repeat; columns as JoulesRow declares them. `samples`: columns of SampleRecord."""
    groups = group_joules(samples, steps)
    rows = [
        _summed(arm, of_repeat)
        for arm in in_order(groups["arm"])
        for _, of_repeat in groups[groups["arm"] == arm].groupby("repeat", sort=True)
    ]
    return typed_frame(JoulesRow, rows)


def group_joules(samples: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """One row for each arm, condition, cache state and repeat; columns as GroupJoulesRow declares them."""
    devices, nodes = _devices(samples), nodes_of_repeats(steps)
    rows = []
    for key, spans in windows(steps).items():
        near = [each for each in devices if is_near(each.source, nodes.get(key[-1]))]
        rows.append(_group(near, key, spans))
    return typed_frame(GroupJoulesRow, rows)


def _summed(arm: str, groups: pd.DataFrame) -> JoulesRow:
    def total(name: str) -> float | None:
        values = numbers(groups, name)
        return None if np.isnan(values).any() else float(values.sum())

    return JoulesRow(
        arm=arm,
        repeat=int(groups["repeat"].iloc[0]),
        seconds=float(groups["seconds"].sum()),
        joules=total("joules"),
        idle_joules=total("idle_joules"),
        net_joules=total("net_joules"),
        source=str(groups["source"].iloc[0]),
        why=next((str(why) for why in groups["why"] if why), ""),
    )


def _group(devices: Sequence[_Device], key: tuple[str, str, str, int], spans: Sequence[Window]) -> GroupJoulesRow:
    seconds = sum(span.seconds for span in spans)
    total, why = _energy(devices, spans)
    known = [device.idle_w for device in devices if device.idle_w is not None]
    idle = sum(known) * seconds if devices and len(known) == len(devices) else None
    arm, condition, cache, repeat = key
    return GroupJoulesRow(
        arm=arm,
        condition=condition,
        cache=cache,
        repeat=repeat,
        seconds=seconds,
        joules=total,
        idle_joules=idle,
        net_joules=None if total is None or idle is None else total - idle,
        source=_sources(devices),
        why=why,
    )


def _energy(devices: Sequence[_Device], spans: Sequence[Window]) -> tuple[float | None, str]:
    """Joules of all devices in all windows, and when they are not known: why."""
    if not devices:
        return None, NOTHING_READ
    total = 0.0
    for device in devices:
        for span in spans:
            used = _of_device(device, span)
            if used is None:
                return (
                    None,
                    f"{device.source} {device.name}: no unbroken samples from {span.start:.1f} to {span.end:.1f} s",
                )
            total += used
    return total, ""


def _of_device(device: _Device, span: Window) -> float | None:
    """J of one device in one window; None when its samples do not cover it."""
    return (grown if device.counts else integral)(device.t, device.value, span)


def _devices(samples: pd.DataFrame) -> list[_Device]:
    """Every device once: by its counter where it has one, else by its power."""
    names = samples["name"].astype(str).str.rsplit("/", n=1, expand=True)
    if samples.empty or names.shape[1] < 2:
        return []
    known = samples.assign(device=names[0], what=names[1])
    known = known[known["what"].isin((ENERGY, POWER, IDLE_POWER)) & known["unit"].isin(("J", "W"))]
    return [
        _device(str(source), str(name), group)
        for (source, name), group in known.groupby(["source", "device"], sort=True)
        if group["what"].isin((ENERGY, POWER)).any()
    ]


def _device(source: str, name: str, samples: pd.DataFrame) -> _Device:
    counts = bool((samples["what"] == ENERGY).any())
    kept = samples[samples["what"] == (ENERGY if counts else POWER)].sort_values("t", kind="stable")
    idle = numbers(samples[samples["what"] == IDLE_POWER], "value")
    at_rest = float(idle[-1]) if idle.size and not np.isnan(idle[-1]) else None
    return _Device(source, name, counts, numbers(kept, "t"), numbers(kept, "value"), at_rest)


def _sources(devices: Sequence[_Device]) -> str:
    by_source: dict[str, list[str]] = {}
    for device in devices:
        by_source.setdefault(device.source, []).append(device.name)
    return "; ".join(f"{source}: {', '.join(names)}" for source, names in by_source.items())
