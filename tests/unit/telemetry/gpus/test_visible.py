"""Which GPUs a process can use. Eight of them, which HIP counts the other way round than the bus does."""

import pytest

from labkit.telemetry.gpus.gpu import GpuFacts
from labkit.telemetry.gpus.visible import visible

EIGHT = [GpuFacts(name=f"0000:{bus:02x}:00.0", indices=(7 - bus,), uuids=(f"GPU-{bus:04x}",)) for bus in range(8)]
CPX = [GpuFacts(name=f"0000:{bus:02x}:00.0", indices=(2 * bus, 2 * bus + 1)) for bus in range(2)]
TWO = [GpuFacts(name=f"gpu{n}", indices=(n,), uuids=(f"GPU-{'ab'[n]}1",)) for n in range(2)]


def buses(*environments: dict[str, str]) -> list[int]:
    return sorted(int(name[5:7], 16) for name in visible("amdsmi", EIGHT, environments))


def test_nothing_hidden_is_all() -> None:
    assert buses({}) == list(range(8))
    assert buses() == []


def test_prefill_and_decode_together() -> None:
    halves = [{"HIP_VISIBLE_DEVICES": "0,1", "CUDA_VISIBLE_DEVICES": "0,1"}, {"HIP_VISIBLE_DEVICES": "6"}]
    assert buses(*halves) == [1, 6, 7]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"CUDA_VISIBLE_DEVICES": "0"}, [7]),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "3"}, [7]),
        ({"ROCR_VISIBLE_DEVICES": "4,5,6,7", "HIP_VISIBLE_DEVICES": "0,1"}, [2, 3]),
        ({"ROCR_VISIBLE_DEVICES": "GPU-0002, GPU-0005"}, [2, 5]),
        ({"ROCR_VISIBLE_DEVICES": "5,1", "HIP_VISIBLE_DEVICES": "1"}, [6]),
        ({"HIP_VISIBLE_DEVICES": "2,9,3"}, [5]),
        ({"HIP_VISIBLE_DEVICES": "1,-1,3"}, [6]),
        ({"HIP_VISIBLE_DEVICES": ""}, []),
        ({"HIP_VISIBLE_DEVICES": "-1"}, []),
    ],
)
def test_the_two_layers(environment: dict[str, str], expected: list[int]) -> None:
    assert buses(environment) == expected


def test_one_of_two_partitions_is_its_whole_gpu() -> None:
    assert visible("amdsmi", CPX, [{"HIP_VISIBLE_DEVICES": "3"}]) == {"0000:01:00.0"}
    assert visible("amdsmi", CPX, [{"HIP_VISIBLE_DEVICES": "1,2"}]) == {"0000:00:00.0", "0000:01:00.0"}


def test_cuda_has_one_layer() -> None:
    assert visible("nvml", TWO, [{"CUDA_VISIBLE_DEVICES": "GPU-b"}]) == {"gpu1"}
    assert visible("nvml", TWO, [{"ROCR_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "1"}]) == {"gpu1"}
