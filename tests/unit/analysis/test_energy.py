"""Joules of made-up powers and counters whose integrals are known."""

from collections.abc import Sequence

import pandas as pd
import pytest
from builders import a_sample, a_step, frame_of

from labkit.analysis.energy import NOTHING_READ, group_joules, joules
from labkit.analysis.windows import windows
from labkit.core.records import SampleRecord, StepRecord


def samples(*records: SampleRecord) -> pd.DataFrame:
    return frame_of(list(records), SampleRecord)  # type: ignore[arg-type]


def power(device: str, points: Sequence[tuple[float, float | None]]) -> list[SampleRecord]:
    return [a_sample(source="nvml", name=f"{device}/power", unit="W", t=t, value=watts) for t, watts in points]


def energy(device: str, points: Sequence[tuple[float, float | None]], source: str = "nvml") -> list[SampleRecord]:
    return [a_sample(source=source, name=f"{device}/energy", unit="J", t=t, value=j) for t, j in points]


def steps(*spans: tuple[float, float], **values: object) -> list[StepRecord]:
    return [a_step(turn=n, t_send=start, t_end=end, **values) for n, (start, end) in enumerate(spans, 1)]


def only(table: pd.DataFrame) -> dict[str, object]:
    assert len(table) == 1
    row: dict[str, object] = table.to_dict("records")[0]
    return row


def test_power_that_rises_evenly_is_integrated_exactly() -> None:
    watts = power("gpu0", [(t, 10.0 * t) for t in range(11)])
    row = only(joules(samples(*watts), frame_of(steps((2.5, 4.0), (4.5, 7.25)))))
    assert row["joules"] == pytest.approx(5 * (7.25**2 - 2.5**2))
    assert row["seconds"] == pytest.approx(4.75)
    assert row["source"] == "nvml: gpu0"
    assert row["why"] == ""


def test_power_with_a_step_is_integrated_over_its_trapezoids() -> None:
    watts = power("gpu0", [(0, 100), (1, 100), (2, 300), (4, 300)])
    assert only(joules(samples(*watts), frame_of(steps((0.5, 3.0)))))["joules"] == pytest.approx(50 + 200 + 300)


def test_a_counter_is_preferred_and_all_devices_are_summed() -> None:
    read = [
        *energy("gpu0", [(0, 0), (10, 500)]),
        *power("gpu0", [(0, 9999), (10, 9999)]),
        *energy("package-0", [(0, 0), (10, 100)], source="rapl"),
        *power("gpu1", [(0, 20), (10, 20)]),
        a_sample(),
    ]
    row = only(joules(samples(*read), frame_of(steps((2, 6)))))
    assert row["joules"] == pytest.approx(4 * 50 + 4 * 10 + 4 * 20)
    assert row["source"] == "nvml: gpu0, gpu1; rapl: package-0"


def test_idle_power_is_told_apart_where_it_was_measured() -> None:
    idle = a_sample(source="nvml", name="gpu0/idle_power", unit="W", t=0, value=30.0)
    read = energy("gpu0", [(0, 0), (10, 1000)])
    row = only(joules(samples(idle, *read), frame_of(steps((1, 5)))))
    assert (row["joules"], row["idle_joules"], row["net_joules"]) == pytest.approx((400, 120, 280))
    unknown = only(joules(samples(*read), frame_of(steps((1, 5)))))
    assert unknown["joules"] == pytest.approx(400)
    assert pd.isna(unknown["idle_joules"])
    assert pd.isna(unknown["net_joules"])


@pytest.mark.parametrize(
    "points",
    [[(2, 0), (10, 5)], [(0, 0), (4, 5)], [(0, 0), (3, None), (10, 5)], [(0, None), (10, 5)]],
    ids=["starts late", "ends early", "hole", "null before"],
)
def test_samples_that_do_not_cover_the_window_are_null_with_the_reason(
    points: list[tuple[float, float | None]],
) -> None:
    read = [*energy("gpu0", [(0, 0), (10, 5)]), *energy("gpu1", points)]
    row = only(joules(samples(*read), frame_of(steps((1, 6)))))
    assert pd.isna(row["joules"])
    assert row["why"] == "nvml gpu1: no unbroken samples from 1.0 to 6.0 s"


def test_a_null_outside_the_window_does_no_harm() -> None:
    read = energy("gpu0", [(0, None), *((t, t - 1) for t in range(1, 7)), (7, None)])
    assert only(joules(samples(*read), frame_of(steps((1, 6)))))["joules"] == pytest.approx(5)


def test_nothing_read_is_null_and_said() -> None:
    for read in ([], [a_sample()], [a_sample(source="e1/engine", name="vllm:x", unit="tokens")]):
        row = only(joules(samples(*read), frame_of(steps((1, 5)))))
        assert pd.isna(row["joules"])
        assert row["why"] == NOTHING_READ
        assert row["source"] == ""


def test_what_lies_between_passes_is_not_counted_and_warm_up_is_not() -> None:
    """10 W all the time: cold 1-2 s, another arm, warm 5-7 s; the second repeat 8-9 s."""
    sent = [
        *steps((0.0, 1.0), warmup=True),
        *steps((1.0, 2.0)),
        *steps((2.0, 5.0), arm="prefix"),
        *steps((5.0, 7.0), cache="warm"),
        *steps((8.0, 9.0), repeat=1),
    ]
    read = samples(*energy("gpu0", [(0, 0), (10, 100)]))
    table = joules(read, frame_of(sent))
    assert list(zip(table["arm"], table["repeat"], table["joules"], strict=True)) == [
        ("base", 0, pytest.approx(30)), ("base", 1, pytest.approx(10)), ("prefix", 0, pytest.approx(30)),
    ]  # fmt: skip
    groups = group_joules(read, frame_of(sent))
    assert dict(zip(zip(groups["cache"], groups["arm"], strict=True), groups["joules"], strict=False))[
        ("warm", "base")
    ] == pytest.approx(20)


def test_passes_that_overlap_count_once_and_a_failed_step_to_its_end() -> None:
    sent = [
        a_step(agent="0", task="a", t_send=1.0, t_end=4.0),
        a_step(agent="1", task="b", t_send=2.0, t_end=6.0, error="HTTP 500"),
        a_step(agent="1", task="c", t_send=9.0, t_end=None, error="cut off"),
    ]
    ((_, spans),) = windows(frame_of(sent)).items()
    assert [tuple(span) for span in spans] == [(1.0, 6.0), (9.0, 9.0)]


def test_a_counter_that_began_again_after_a_break_is_null_with_the_reason() -> None:
    """50 W; the run was killed at 100 s and went on at 130 s, where its counter counts from 0 again."""
    read = [
        *energy("gpu0", [(t, 50.0 * t) for t in range(101)]),
        *energy("gpu0", [(t, 50.0 * (t - 130)) for t in range(130, 160)]),
    ]
    cut, before, after = (
        only(joules(samples(*read), frame_of(steps(span)))) for span in ((90.0, 100.9), (90.0, 99.5), (131.0, 141.0))
    )
    assert pd.isna(cut["joules"])
    assert cut["why"] == "nvml gpu0: no unbroken samples from 90.0 to 100.9 s"
    assert (before["joules"], after["joules"]) == pytest.approx((50 * 9.5, 50 * 10))


def test_samples_that_are_far_apart_at_the_end_of_a_window_do_not_cover_it() -> None:
    """Growing all the time, so that nothing falls; a hole of 20 s."""
    seconds = [*range(11), *range(30, 41)]
    counted, drawn = energy("gpu0", [(t, 50.0 * t) for t in seconds]), power("gpu0", [(t, 50.0) for t in seconds])
    for read in (counted, drawn):
        assert pd.isna(only(joules(samples(*read), frame_of(steps((5.0, 12.0)))))["joules"])
        assert only(joules(samples(*read), frame_of(steps((5.0, 9.5)))))["joules"] == pytest.approx(50 * 4.5)
    over_it = frame_of(steps((5.0, 35.0)))
    assert only(joules(samples(*counted), over_it))["joules"] == pytest.approx(50 * 30)  # the counter counted on
    assert pd.isna(only(joules(samples(*drawn), over_it))["joules"])
