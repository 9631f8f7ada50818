"""What GPUs did in the windows of an arm, of made-up samples whose answers are known."""

from collections.abc import Sequence

import pandas as pd
import pytest
from builders import a_sample, a_step, frame_of

from labkit.analysis.gpu_use import gpu_use
from labkit.analysis.gpus_by_arm import gpus_by_arm
from labkit.core.records import SampleRecord, StepRecord

Points = Sequence[tuple[float, float | None]]


def of(device: str, what: str, points: Points, unit: str = "1", source: str = "amdsmi") -> list[SampleRecord]:
    return [a_sample(source=source, name=f"{device}/{what}", unit=unit, t=t, value=value) for t, value in points]


def use(samples: Sequence[SampleRecord], *steps: StepRecord) -> list[dict[str, object]]:
    table = gpu_use(frame_of(list(samples), SampleRecord), frame_of(list(steps)))
    return [{str(k): None if v != v or v is pd.NA else v for k, v in row.items()} for row in table.to_dict("records")]


def step(start: float, end: float, arm: str = "base", **values: object) -> StepRecord:
    return a_step(arm=arm, t_send=start, t_end=end, **values)


def test_a_share_counts_where_its_whole_interval_is_the_arms() -> None:
    """The reading at 3 is of the second before the window, at 6 of the second after its end."""
    busy = of("g0", "gfx_busy", [(t, t / 10) for t in range(1, 9)])
    (row,) = use(busy, step(2.5, 5.5))
    assert (row["n"], row["gfx_busy"], row["gfx_busy_max"]) == (2, pytest.approx(0.45), 0.5)
    assert row["counted"] is True


def test_of_a_gauge_the_readings_in_the_window_count_and_it_is_said() -> None:
    gauge = of("gpu0", "gfx_busy_gauge", [(1, 0.9), (2, 0.2), (3, 0.4), (4, 0.9)], source="nvml")
    (row,) = use(gauge, step(1.5, 3.5))
    assert (row["n"], row["gfx_busy"], row["counted"]) == (2, pytest.approx(0.3), False)


def test_bytes_are_the_growth_of_the_counter_between_the_ends() -> None:
    """100 bytes a second, over windows of 2 and of 1.5 seconds; the two arms apart."""
    read = of("g0", "link_read", [(t, 100.0 * t) for t in range(11)], "bytes")
    steps = [step(1, 3), step(5, 6.5, task="other"), step(7, 9, arm="prefix")]
    assert [(row["arm"], row["link_read"]) for row in use(read, *steps)] == [
        ("base", pytest.approx(350)),
        ("prefix", pytest.approx(200)),
    ]


@pytest.mark.parametrize("broken", [(4, None), (4, 1.0)])
def test_a_hole_or_a_reset_leaves_the_bytes_unknown(broken: tuple[float, float | None]) -> None:
    points = [(t, 100.0 * t) if t != broken[0] else broken for t in range(11)]
    whole, with_hole = step(6, 8, arm="base"), step(2, 5, arm="prefix")
    assert [row["link_read"] for row in use(of("g0", "link_read", points, "bytes"), whole, with_hole)] == [
        pytest.approx(200),
        None,
    ]


def test_overlapping_passes_are_counted_once() -> None:
    read = of("g0", "link_read", [(t, 10.0 * t) for t in range(11)], "bytes")
    (row,) = use(read, step(1, 5, condition="a"), step(3, 7, condition="b"))
    assert row["link_read"] == pytest.approx(60)


def test_the_most_of_memory_power_and_heat() -> None:
    samples = [
        *of("g0", "vram_used", [(1, 5e9), (2, 9e9), (3, 7e9), (9, 99e9)], "bytes"),
        *of("g0", "power", [(1, 300), (2, 500), (3, None), (9, 9000)], "W"),
        *of("g0", "hotspot", [(1, 60), (2, 75), (9, 100)], "C"),
    ]
    (row,) = use(samples, step(0.5, 4))
    assert (row["vram_used"], row["power_w"], row["power_max_w"], row["hotspot_max"]) == (9e9, 400, 500, 75)
    assert row["gfx_busy"] is row["link_read"] is row["vram_total"] is None


def test_warm_up_and_other_sources_leave_no_row() -> None:
    assert use(of("g0", "power", [(1, 300)], "W"), step(0, 2, warmup=True)) == []
    assert use(of("host", "cpu", [(1, 3)], source="host"), step(0, 2)) == []
    assert use([], step(0, 2)) == []


def by_arm(samples: Sequence[SampleRecord], *steps: StepRecord) -> list[dict[str, object]]:
    table = gpus_by_arm(gpu_use(frame_of(list(samples), SampleRecord), frame_of(list(steps))))
    return [{str(k): None if v != v or v is pd.NA else v for k, v in row.items()} for row in table.to_dict("records")]


def test_all_gpus_of_an_arm() -> None:
    seconds = range(6)
    samples = [
        *of("g0", "gfx_busy", [(t, 0.2) for t in seconds]), *of("g1", "gfx_busy", [(t, 0.8) for t in seconds]),
        *of("g0", "power", [(t, 300) for t in seconds], "W"), *of("g1", "power", [(t, 700) for t in seconds], "W"),
        *of("g0", "link_read", [(t, 10 * t) for t in seconds], "bytes"),
        *of("g1", "link_read", [(t, 30 * t) for t in seconds], "bytes"),
    ]  # fmt: skip
    (row,) = by_arm(samples, step(1, 4))
    assert (row["n_gpus"], row["gfx_busy"]) == (2, pytest.approx(0.5))
    assert (row["gfx_busy_least"], row["gfx_busy_most"]) == (pytest.approx(0.2), pytest.approx(0.8))
    assert (row["power_w"], row["power_max_w"], row["link_read"]) == (1000, 700, pytest.approx(120))


def test_one_that_told_nothing_makes_the_sum_null() -> None:
    power = [*of("g0", "power", [(1, 300)], "W"), *of("g1", "power", [(1, None)], "W")]
    (row,) = by_arm(power, step(0, 2))
    assert (row["n_gpus"], row["power_w"], row["power_max_w"]) == (2, None, None)
    assert by_arm([], step(0, 2)) == []


AT = "0000:05:00.0"
"""Two machines of a kind have their GPUs at the same addresses."""


def on(node: str, busy: float, watts: float, until: int = 30) -> list[SampleRecord]:
    """A GPU of this node, read every second, that does the same all the time; 10 bytes a second over its link."""
    seconds, source = range(until), f"{node}/amdsmi"
    return [
        *of(AT, "gfx_busy", [(t, busy) for t in seconds], source=source),
        *of(AT, "power", [(t, watts) for t in seconds], "W", source),
        *of(AT, "link_read", [(t, 10.0 * t) for t in seconds], "bytes", source),
    ]


NODES = [*on("n1", 1.0, 700), *on("n2", 0.2, 140)]


def repeat(number: int, node: str, arm: str, start: float, end: float, **values: object) -> StepRecord:
    return step(start, end, arm, repeat=number, engine=f"{node}/e", **values)


def test_a_gpu_counts_for_what_its_own_node_measured() -> None:
    """At the same time: what the other node's GPU did was for another arm."""
    steps = [repeat(0, "n1", "base", 1, 9), repeat(1, "n2", "prefix", 1, 9)]
    assert [(row["arm"], row["source"], row["gfx_busy"], row["power_w"]) for row in use(NODES, *steps)] == [
        ("base", "n1/amdsmi", pytest.approx(1.0), 700),
        ("prefix", "n2/amdsmi", pytest.approx(0.2), 140),
    ]
    base, prefix = by_arm(NODES, *steps)
    assert [(row["n_gpus"], row["gfx_busy"], row["power_w"]) for row in (base, prefix)] == [
        (1, pytest.approx(1.0), 700),
        (1, pytest.approx(0.2), 140),
    ]


def test_an_arm_of_several_nodes_has_the_power_of_one_at_a_time_and_means_over_their_time() -> None:
    """Three times as long on n1, in two repeats: 3/4 of 700 W and 1/4 of 140 W, and the bytes of all three."""
    steps = [repeat(0, "n1", "base", 1, 9), repeat(1, "n2", "base", 1, 9), repeat(2, "n1", "base", 10, 26)]
    (row,) = by_arm(NODES, *steps)
    assert (row["n_gpus"], row["power_w"], row["power_max_w"]) == (2, pytest.approx(560), 700)
    assert (row["gfx_busy"], row["gfx_busy_least"]) == (pytest.approx(0.8), pytest.approx(0.2))
    assert row["link_read"] == pytest.approx(10 * (8 + 8 + 16))


def test_the_gpus_of_a_node_are_summed_before_nodes_are_weighed() -> None:
    second = of("0000:0a:00.0", "power", [(t, 300) for t in range(30)], "W", "n1/amdsmi")
    steps = [repeat(0, "n1", "base", 1, 9), repeat(1, "n2", "base", 1, 9)]
    (row,) = by_arm([*NODES, *second], *steps)
    assert (row["n_gpus"], row["power_w"]) == (3, (1000 + 140) / 2)


def test_what_a_lost_node_sent_gives_it_no_window() -> None:
    lost, again = repeat(0, "n2", "base", 1, 4, warmup=True), repeat(0, "n1", "base", 5, 9)
    (row,) = use(NODES, lost, again)
    assert (row["source"], row["seconds"], row["power_w"]) == ("n1/amdsmi", 4, 700)


def test_windows_without_length_count_alike() -> None:
    steps = [repeat(0, "n1", "base", 5, 5), repeat(1, "n2", "base", 6, 6)]
    (row,) = by_arm(NODES, *steps)
    assert (row["n_gpus"], row["power_w"], row["gfx_busy"]) == (2, 420, None)
