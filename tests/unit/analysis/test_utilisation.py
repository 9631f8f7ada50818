"""How busy the machine was: only what was read within a pass counts, and a part never passes for the whole."""

import pandas as pd
import pytest
from builders import a_sample, a_step, frame_of

from labkit.analysis.utilisation import utilisation
from labkit.core.records import SampleRecord, StepRecord

STEPS = [
    a_step(t_send=10.0, t_end=12.0, condition="steps=2", turn=1),
    a_step(t_send=12.1, t_end=14.0, condition="steps=2", turn=2),
    a_step(t_send=20.0, t_end=21.0, condition="steps=1"),
    a_step(t_send=1.0, t_end=3.0, condition="steps=2", turn=1, warmup=True),
]


def cpu(t: float, value: float | None) -> SampleRecord:
    return a_sample(t=t, value=value, name="cpu_percent")


def watts(t: float, value: float | None, device: str, source: str = "amdsmi") -> SampleRecord:
    return a_sample(t=t, value=value, source=source, name=f"{device}/power", unit="W")


def row(samples: list[SampleRecord], condition: str = "steps=2") -> pd.Series:
    table = utilisation(frame_of(STEPS), frame_of(samples, SampleRecord))
    (found,) = table[table["condition"] == condition].to_dict("records")
    return pd.Series(found)


def test_a_reading_counts_when_the_time_since_the_one_before_lies_within_the_pass():
    read = row([cpu(9.5, 10.0), cpu(10.5, 20.0), cpu(11.5, 80.0), cpu(13.0, 100.0), cpu(14.5, 30.0)])
    assert (read["n_readings"], read["cpu_busy"]) == (2, pytest.approx(0.9))


def test_what_was_not_read_is_null_and_not_idle():
    read = row([cpu(10.0, 50.0), cpu(11.0, None)])
    assert read["n_readings"] == 0
    assert pd.isna(read["cpu_busy"])
    assert pd.isna(read["gpu_w"])
    short = row([cpu(20.2, 50.0), cpu(21.2, 50.0)], "steps=1")
    assert pd.isna(short["cpu_busy"])


def test_gpus_add_up_and_one_that_tells_nothing_makes_the_sum_null():
    both = [watts(t, 300.0, "gpu0") for t in (10.0, 11.0, 12.0)] + [watts(t, 200.0, "gpu1") for t in (10.0, 11.0, 12.0)]
    assert row(both)["gpu_w"] == pytest.approx(500.0)
    assert pd.isna(row([*both, *(watts(t, None, "gpu2") for t in (10.0, 11.0))])["gpu_w"])
    assert pd.isna(row([watts(t, 40.0, "package-0", "rapl") for t in (10.0, 11.0)])["gpu_w"])


def test_two_passes_of_one_condition_are_pooled_and_nothing_makes_no_rows():
    again = a_step(t_send=30.0, t_end=32.0, condition="steps=1", repeat=1)
    samples = [cpu(20.0, 0.0), cpu(20.9, 100.0), cpu(30.0, 0.0), cpu(31.0, 50.0)]
    table = utilisation(frame_of([STEPS[2], again]), frame_of(samples, SampleRecord))
    assert table[["n_readings", "cpu_busy"]].values.tolist() == [[2, 0.75]]
    assert utilisation(frame_of([], StepRecord), frame_of(samples, SampleRecord)).empty
