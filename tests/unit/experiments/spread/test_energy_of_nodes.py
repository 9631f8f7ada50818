"""Nodes measure at the same time: each repeat has the joules of its own node, and no other's."""

import pytest
from builders import a_sample, a_step, frame_of

from labkit.analysis.energy import joules
from labkit.core.records import SampleRecord


def test_a_repeat_has_the_joules_of_its_own_node():
    watts = [
        a_sample(source=f"{node}/nvml", name="gpu0/power", unit="W", t=t, value=value)
        for node, value in (("node-1", 100.0), ("node-10", 700.0))
        for t in range(6)
    ]
    rows = [
        a_step(repeat=repeat, engine=f"{node}/e", t_send=1.0, t_end=4.0)
        for repeat, node in ((0, "node-1"), (1, "node-10"))
    ]
    found = joules(frame_of(watts, SampleRecord), frame_of(rows))
    assert found["joules"].tolist() == pytest.approx([300.0, 2100.0])
    assert found["source"].tolist() == ["node-1/nvml: gpu0", "node-10/nvml: gpu0"]
