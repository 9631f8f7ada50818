"""Every check of a GPU node is shown its fault, and says which it is and what mends it; a sound node has none."""

from __future__ import annotations

import dataclasses

import pytest
from healthy import DRAFTERS, GIB, HUB, amd_facts, amd_gpu, amd_node, facts, nvidia_facts, rocm_python

from labkit.core.arms import ARMS
from labkit.doctor.examine import checks, examine
from labkit.doctor.facts import Gpus, Package, Weights
from labkit.doctor.model_size import ModelSize
from labkit.doctor.node.records import DeviceFile, Driver, GpuUser, Limits, Node
from labkit.doctor.records import Check
from labkit.doctor.runnable import ALL, runnable, with_layer
from labkit.engines.profiles import list_profiles, load_profile

AMD, NVIDIA = "amd", "nvidia"
SOUND = {AMD: amd_facts, NVIDIA: nvidia_facts}
CPX = tuple(amd_gpu(n, compute="CPX", memory="NPS4") for n in range(8))
DRIVER = amd_node().driver
CUDA_WHEEL = rocm_python(
    packages={"vllm": "0.32.0", "torch": "2.13.0", "vllm-router": "0.1.17"},
    modules=("torch", "vllm"),
    torch={"cuda": "12.9"},
    kernels=("_C",),
)


def node(**changes: object) -> dict[str, object]:
    return {"node": amd_node(**changes)}


def driver(**changes: object) -> dict[str, object]:
    return node(driver=dataclasses.replace(DRIVER, **changes))


def python(**changes: object) -> dict[str, object]:
    return {"installation": rocm_python(**changes)}


def packages(**changes: str) -> dict[str, object]:
    kept = {**rocm_python().packages, **{name.replace("_", "-"): version for name, version in changes.items()}}
    return python(packages={name: version for name, version in kept.items() if version})


def hub(**changes: object) -> dict[str, object]:
    found = dataclasses.replace(HUB, **changes)
    problem = "" if found.snapshot else "Qwen/Qwen3 is not in the hub's cache"
    size = ModelSize(size=235_000_000_000, how="by its name: 235 billion parameters x 1 bytes")
    return {"weights": Weights(name="Qwen/Qwen3", problem=problem, hub=found, size=size)}


def head(**changes: object) -> dict[str, object]:
    """The default drafter's model, in the same hub."""
    weights = Weights(
        name="RedHatAI/head", problem="RedHatAI/head is not in the hub's cache", hub=hub(**changes)["weights"].hub
    )
    return {"drafters": (dataclasses.replace(DRAFTERS[0], weights=weights),)}


def gpu_7(**changes: object) -> tuple:
    return (*map(amd_gpu, range(7)), amd_gpu(7, **changes))


FAULTS = [
    (AMD, "GPUs", "fail", node(gpus=()), "no AMD GPU (0 of 8); 8 x MI300X wanted", "labkit plan --profiles"),
    (AMD, "GPUs", "fail", node(gpus=tuple(map(amd_gpu, range(4)))), "4 x MI300X (0x74a1); 8 x MI300X wanted", "plan"),
    (AMD, "GPUs", "warn", node(gpus=gpu_7(device_id="0x74a5")), "1 x MI325X (0x74a5); 8 x MI300X wanted", "plan"),
    (
        AMD,
        "GPUs",
        "fail",
        node(
            gpus=tuple(amd_gpu(n, device_id="0x744c") for n in range(8)),
            driver=dataclasses.replace(DRIVER, computing=("gfx1100",) * 8),
        ),
        "8 x AMD GPU (0x744c); 8 x MI300X wanted",
        "plan",
    ),
    (
        AMD,
        "GPUs",
        "ok",
        node(gpus=(*map(amd_gpu, range(8)), amd_gpu(8, device_id="0x150e"))),
        "8 x MI300X (0x74a1), 1 x AMD GPU (0x150e)",
        "",
    ),
    (AMD, "GPUs", "ok", node(gpus=gpu_7(device_id="0x74b5")), "1 x MI300X (0x74b5)", ""),
    (AMD, "GPU driver", "fail", driver(amdgpu=None, kfd=False), "amdgpu is not loaded", "sudo modprobe amdgpu"),
    (AMD, "GPU driver", "fail", driver(kfd=False), "amdgpu 6.14.14, but there is no /dev/kfd", "--device /dev/kfd"),
    (AMD, "GPU driver", "fail", driver(computing=()), "no GPU is offered for computing", "dmesg"),
    (AMD, "GPU driver", "fail", driver(computing=("gfx942",)), "1 device for computing (gfx942)", "/dev/dri"),
    (AMD, "GPU driver", "ok", driver(amdgpu=""), "the kernel's own amdgpu; 8 devices for computing (gfx942)", ""),
    (
        AMD,
        "Rights",
        "fail",
        node(files=(DeviceFile(path="/dev/kfd", usable=False, group="render"), amd_node().files[1])),
        "/dev/kfd (group render)",
        "sudo usermod -aG render $USER",
    ),
    (AMD, "Rights", "fail", node(files=amd_node().files[:1]), "no /dev/dri/renderD*", "--device /dev/dri"),
    (
        AMD,
        "Partitions",
        "fail",
        node(gpus=CPX),
        "compute CPX, memory NPS4",
        "amd-smi set -g all --compute-partition SPX",
    ),
    (
        AMD,
        "Partitions",
        "unknown",
        node(gpus=tuple(amd_gpu(n, compute=None, memory=None) for n in range(8))),
        "tells no modes; it offers 8 devices",
        "",
    ),
    (
        AMD,
        "GPUs in use",
        "fail",
        node(gpus=gpu_7(vram_used=60 * GIB), users=(GpuUser(pid=7, name="python", vram=60 * GIB),)),
        "taken: GPU 7 60 of 192 GiB; held by python (pid 7)",
        "amd-smi process",
    ),
    (AMD, "GPUs in use", "warn", node(gpus=gpu_7(vram_used=9 * GIB)), "taken: GPU 7 9 of 192 GiB", "amd-smi process"),
    (
        AMD,
        "GPUs in use",
        "ok",
        node(gpus=gpu_7(vram_used=180 * GIB), users=(GpuUser(pid=7, name="vllm", engine="e.1", vram=1),)),
        "held by e.1 (pid 7)",
        "",
    ),
    (AMD, "GPUs in use", "unknown", node(gpus=tuple(amd_gpu(n, vram_used=None) for n in range(8))), "not tell", ""),
    (
        AMD,
        "GPU telemetry (amdsmi)",
        "warn",
        {"gpus": Gpus(unread={"amdsmi": "its library does not load"})},
        "amdsmi reads 0 of 8 GPUs: its library does not load",
        "/opt/rocm/share/amd_smi",
    ),
    (
        AMD,
        "GPU telemetry (amdsmi)",
        "warn",
        {"gpus": Gpus(seen={"amdsmi": tuple("abcdefgh")}, silent={"a": "the driver tells N/A"})},
        "amdsmi reads 8 of 8 GPUs: a: the driver tells N/A",
        "/opt/rocm/share/amd_smi",
    ),
    (
        AMD,
        "Partitions",
        "fail",
        {**node(gpus=gpu_7(compute=None)), "gpus": Gpus(modes={"0000:07:00.0": ("DPX", None)})},
        "compute DPX, SPX, memory NPS1",
        "amd-smi set",
    ),
    (
        AMD,
        "Engine build",
        "fail",
        {"installation": CUDA_WHEEL},
        "vllm 0.32.0 is a CUDA build (torch 2.13.0)",
        "docker pull vllm/vllm-openai-rocm",
    ),
    (AMD, "Engine build", "fail", python(packages={}, kernels=()), "no vllm in /usr/bin/python3.12", "docker pull"),
    (AMD, "Engine build", "fail", {"installation": None, "unasked": "`vllm` is not on PATH"}, "not on PATH", "docker"),
    (
        AMD,
        "Python of the engine",
        "warn",
        {"installation": dataclasses.replace(CUDA_WHEEL, python="3.11.7")},
        "Python 3.11.7, glibc 2.35",
        "docker pull",
    ),
    (
        AMD,
        "Python of the engine",
        "warn",
        {"installation": dataclasses.replace(CUDA_WHEEL, libc="glibc 2.31")},
        "glibc 2.31; ROCm wheels are for Python 3.12 and glibc 2.35 or newer",
        "docker pull",
    ),
    (AMD, "Python of the engine", "ok", python(python="3.13.1"), "Python 3.13.1", ""),
    (AMD, "ROCm version", "warn", driver(rocm="6.4.1"), "/opt/rocm is ROCm 6.4.1; torch is built for 7.0", "docker"),
    (AMD, "ROCm version", "unknown", driver(rocm=None), "no /opt/rocm", ""),
    (AMD, "AITER", "fail", python(modules=("mori", "vllm")), "no module aiter in /usr/bin/python3.12", "docker pull"),
    (
        AMD,
        "Visible devices",
        "warn",
        node(variables={"HIP_VISIBLE_DEVICES": "0,1", "CUDA_VISIBLE_DEVICES": "2,3"}),
        "this shell has HIP_VISIBLE_DEVICES=0,1, CUDA_VISIBLE_DEVICES=2,3",
        "unset HIP_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES",
    ),
    (AMD, "Limits", "warn", node(limits=Limits(memlock=8 << 20)), "(ulimit -l) 8,192 KiB", "memlock=-1"),
    (AMD, "Limits", "warn", node(limits=Limits(files=4096)), "(ulimit -Hn) 4,096", "nofile"),
    (AMD, "NUMA balancing", "warn", node(numa_balancing=1), "kernel.numa_balancing = 1", "echo 0 >"),
    (AMD, "NUMA balancing", "unknown", node(numa_balancing=None), "does not tell", ""),
    (
        AMD,
        "Model hub",
        "fail",
        hub(snapshot=None, reachable=False, problem="refused"),
        "answer: refused",
        "HF_ENDPOINT",
    ),
    (AMD, "Model hub", "unknown", hub(reachable=False, problem="refused"), "refused; the model is in the cache", ""),
    (AMD, "Model hub", "fail", hub(snapshot=None, reachable=None, offline="HF_HUB_OFFLINE"), "forbids", "copy /hub"),
    (AMD, "Weights", "warn", hub(snapshot=None), "not in the hub's cache", "labkit models fetch Qwen/Qwen3"),
    (AMD, "Weights", "fail", hub(snapshot=None, reachable=False), "not in the hub's cache", "labkit models fetch"),
    (AMD, "Drafter's weights", "ok", {}, "eagle3, the default: RedHatAI/head: ready (in the hub's cache, 1.3 GB)", ""),
    (
        AMD,
        "Drafter's weights",
        "warn",
        head(snapshot=None),
        "eagle3, the default: RedHatAI/head is not in the hub's cache; the four arms with speculation need it",
        "labkit models fetch RedHatAI/head",
    ),
    (AMD, "Drafter's weights", "fail", head(snapshot=None, reachable=False), "arms with speculation need", "fetch Red"),
    (AMD, "Other drafters", "ok", {}, "draft_model: Qwen/Qwen3-0.6B is not here yet", ""),
    (
        AMD,
        "Disk of the hub's cache",
        "fail",
        hub(snapshot=None, free=75_000_000_000),
        "75 GB free in /hub; 235 GB of weights are to come",
        "HF_HOME",
    ),
    (AMD, "Disk of the hub's cache", "unknown", hub(snapshot=None, free=None), "cannot be read", ""),
    (
        AMD,
        "GPU memory",
        "fail",
        {"node": amd_node(gpus=tuple(amd_gpu(n, vram_total=56 * GIB) for n in range(8)))},
        "/ 4 GPUs = 54.7 GiB on each; room: 56.0 GiB x 0.9 = 50.4 GiB",
        "",
    ),
    (
        AMD,
        "streamlit",
        "fail",
        {"packages": (Package(name="streamlit", wanted=">=1.61", installed=None),)},
        "not installed",
        "pip install 'streamlit>=1.61'",
    ),
    (
        AMD,
        "amdsmi",
        "fail",
        {"packages": (Package(name="amdsmi", wanted=">=6.4", installed=None),)},
        "not installed",
        "pip install /opt/rocm/share/amd_smi",
    ),
    (AMD, "GPU memory", "unknown", node(gpus=()), "how much memory a GPU has is not known", ""),
    (AMD, "Transfer library (mori)", "fail", python(modules=("aiter",)), "no module mori", "pip install amd-mori"),
    (AMD, "Router", "fail", {**packages(vllm_router=""), "missing": {"vllm-router": ALL}}, "not on PATH", "==0.1.17"),
    (AMD, "Router", "warn", packages(vllm_router="0.1.9"), "0.1.9; the profiles were made for 0.1.17", "==0.1.17"),
    (AMD, "Router", "warn", packages(vllm_router=""), "on PATH, but not of the engine's Python", "==0.1.17"),
    (
        AMD,
        "Old MoRI-IO variables",
        "warn",
        node(ignored={"VLLM_MORIIO_CONNECTOR_READ_MODE": "write read_mode = true"}),
        "set in this shell: VLLM_MORIIO_CONNECTOR_READ_MODE",
        "unset VLLM_MORIIO_CONNECTOR_READ_MODE",
    ),
    (NVIDIA, "GPUs", "fail", {"node": Node()}, "no NVIDIA GPU (0 of 1); 1 x H200 wanted", "plan"),
    (NVIDIA, "GPU driver", "fail", {"node": dataclasses.replace(nvidia_facts().node, driver=Driver())}, "NVML", "smi"),
    (
        NVIDIA,
        "CUDA version",
        "warn",
        {"node": dataclasses.replace(nvidia_facts().node, driver=Driver(nvidia="550", cuda="12.4"))},
        "serves CUDA up to 12.4; torch is built for 12.8",
        "docker pull vllm/vllm-openai:",
    ),
    (NVIDIA, "Engine build", "fail", {"installation": rocm_python()}, "is a ROCm build", "docker pull"),
    (NVIDIA, "Transfer library (nixl)", "fail", {"installation": CUDA_WHEEL}, "no module nixl", "pip install nixl"),
    (NVIDIA, "GPU telemetry (nvml)", "warn", {"gpus": Gpus(unread={"nvml": "no driver"})}, "0 of 1", "nvidia-ml-py"),
    (
        NVIDIA,
        "Rights",
        "fail",
        {
            "node": dataclasses.replace(
                nvidia_facts().node, files=(DeviceFile(path="/dev/nvidia0", usable=False, group="video"),)
            )
        },
        "/dev/nvidia0 (group video)",
        "usermod",
    ),
]


def found(vendor: str, name: str, planted: dict[str, object]) -> Check:
    return next(check for check in checks(SOUND[vendor](**planted)) if check.name == name)


@pytest.mark.parametrize(("vendor", "name", "status", "planted", "words", "command"), FAULTS)
def test_a_check_of_a_gpu_node_names_what_is_planted(vendor, name, status, planted, words, command):
    check = found(vendor, name, planted)
    assert (check.status, words in check.found) == (status, True), check.found
    assert command in check.command
    assert check.why
    assert bool(check.todo) == bool(check.command) == (status in ("fail", "warn"))


@pytest.mark.parametrize("vendor", SOUND)
def test_on_a_sound_node_all_is_fine_and_all_arms_run(vendor):
    report = examine(SOUND[vendor]())
    assert [(check.name, check.found) for check in report.checks if check.status != "ok"] == []
    assert runnable("p", report.checks).sentence == "all eight arms"


def test_every_check_of_a_gpu_node_has_been_shown_a_fault():
    of_any_machine = {check.name for check in checks(facts())}  # in test_checks.py
    for vendor, sound in SOUND.items():
        made = {check.name for check in checks(sound())} - of_any_machine - {"RDMA network"}
        shown = {row[1] for row in FAULTS if row[0] == vendor or vendor == NVIDIA}
        assert made <= shown


@pytest.mark.parametrize(("up", "status"), [((), "fail"), ((("mlx5_0", False),), "fail"), ((("mlx5_0", True),), "ok")])
def test_rdma_wants_a_network_card_with_an_active_port_and_xgmi_none(up, status):
    over_network = load_profile("mi300x-8-qwen3-235b+rdma")
    check = next(
        check
        for check in checks(dataclasses.replace(amd_facts(node=amd_node(rdma=up)), profile=over_network))
        if check.name == "RDMA network"
    )
    assert check.status == status
    assert (check.command == "rdma link show") == (status == "fail")
    assert check.stops == (with_layer("pd_split") if status == "fail" else ())
    assert found(AMD, "RDMA network", node(rdma=up)).status == "ok"


@pytest.mark.parametrize(
    ("planted", "sentence"),
    [
        (
            python(modules=("aiter", "vllm")),
            "the four arms without pd_split; not the four arms with pd_split: Transfer",
        ),
        (
            head(snapshot=None, reachable=False),
            "the four arms without speculation; not the four arms with speculation: Drafter's weights: eagle3, the def",
        ),
        ({**packages(vllm_router=""), "missing": {"vllm-router": ALL}}, "none: Router: vllm-router is not on PATH"),
        (node(variables={"HIP_VISIBLE_DEVICES": "0"}), "all eight arms"),
        (node(gpus=()), "none: GPUs: no AMD GPU (0 of 8); 8 x MI300X wanted. labkit plan and labkit matrix still"),
    ],
)
def test_what_can_be_run_follows_from_the_checks(planted, sentence):
    assert runnable("p", checks(amd_facts(**planted))).sentence.startswith(sentence)


def test_a_router_is_for_the_split_alone_where_there_is_one_engine():
    absent = {**packages(vllm_router=""), "missing": {"vllm-router": with_layer("pd_split")}}
    small = Weights(name="Qwen/Qwen3-8B", hub=HUB, size=ModelSize(size=16_000_000_000, how="its files"))
    left = runnable("p", checks(amd_facts("mi300x-1-qwen3-8b", weights=small, **absent))).arms
    assert left == tuple(arm.label for arm in ARMS if not arm.pd_split)


@pytest.mark.parametrize("profile", [name for name in list_profiles() if name != "cpu-smollm2"])
def test_no_shipped_gpu_profile_asks_for_more_than_its_own_machine(profile):
    wanted = load_profile(profile).machine
    if wanted.vendor == "amd":
        node = amd_node(gpus=tuple(map(amd_gpu, range(wanted.gpus))))
        check = next(c for c in checks(amd_facts(profile, node=node)) if c.name == "GPUs")
        assert check.status == "ok"
    assert wanted.gpus
    assert wanted.image


SGLANG = "mi300x-8-qwen3-235b-sglang"
SGLANG_PYTHON = rocm_python(
    packages={"sglang": "0.5.23", "torch": "2.9.0+rocm700", "smg": "1.13.0", "amd-mori": "1.2.0"},
    modules=("aiter", "mori", "sglang", "torch"),
    kernels=(),
)


@pytest.mark.parametrize(
    ("changes", "name", "status", "words"),
    [
        ({}, "Engine build", "ok", "sglang 0.5.23 is a ROCm build"),
        ({"torch": {}, "packages": {"sglang": "0.5.23", "torch": "2.9.0"}}, "Engine build", "fail", "is a CUDA build"),
        ({"packages": {"torch": "2.9.0+rocm700"}}, "Engine build", "fail", "no sglang in /usr/bin/python3.12"),
        ({}, "Router", "ok", "smg 1.13.0"),
        ({"packages": {"sglang": "0.5.23"}}, "Router", "fail", "no smg in the engine's Python"),
        ({"packages": {"smg": "1.12.0"}}, "Router", "warn", "smg 1.12.0; the profiles were made for 1.13.0"),
        ({"modules": ("sglang", "mori")}, "AITER", "fail", "no module aiter"),
        ({"modules": ("sglang", "aiter")}, "Transfer library (mori)", "fail", "no module mori"),
        ({}, "RDMA network", "unknown", "none; the profile names no backend"),
    ],
)
def test_an_engine_of_sglang_is_judged_by_what_it_is_made_of(changes, name, status, words):
    made = checks(amd_facts(SGLANG, installation=dataclasses.replace(SGLANG_PYTHON, **changes)))
    check = next(each for each in made if each.name == name)
    assert (check.status, words in check.found) == (status, True), check.found
    assert "Python of the engine" not in {each.name for each in made}
