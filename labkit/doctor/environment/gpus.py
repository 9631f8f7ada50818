"""Are the GPUs here that the profile was made for, whole, free, and readable by the lab?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from labkit.doctor.facts import Facts
from labkit.doctor.node.records import GpuDevice
from labkit.doctor.records import Check, Status

KINDS = {
    "0x74a0": "MI300A",
    "0x74a1": "MI300X",
    "0x74a2": "MI308X",
    "0x74a5": "MI325X",
    "0x74a9": "MI300X HF",
    "0x74b5": "MI300X",
    "0x74b9": "MI325X",
    "0x74bd": "MI300X HF",
}
"""AMD's device ids as vLLM 0.32 knows them (platforms/rocm.py); 0x74b5 and 0x74b9 are virtual functions."""
_INSTINCT = ("gfx94", "gfx95")
_WORDS = {"amd": "AMD", "nvidia": "NVIDIA"}


def gpus(facts: Facts) -> Check:
    """The GPUs on the bus against those of the profile: vendor, number, kind."""
    machine = facts.profile.machine
    ours = facts.node.of(machine.vendor)
    status, found, todo = _judged(facts, ours)
    return Check(
        name="GPUs",
        area="GPU node",
        status=status,
        found=found,
        why="The profile places its engines on them, and its memory settings are made for this kind."
        if machine.gpus
        else "This profile needs none; those that are here have their power read.",
        todo=todo,
        command="labkit plan --profiles" if todo else "",
    )


def _judged(facts: Facts, ours: tuple[GpuDevice, ...]) -> tuple[Status, str, str]:
    machine, here = facts.profile.machine, counted(facts.node.gpus) or "no GPU on the PCI bus"
    if not machine.gpus:
        return "ok", here, ""
    if sum(_is(gpu, str(machine.gpu)) for gpu in ours) >= machine.gpus:
        return "ok", here, ""
    wanted = f"{machine.gpus} x {machine.gpu} wanted"
    if len(ours) >= machine.gpus and _of_the_kind(facts):
        todo = "Write a profile for this machine: memory, tensor parallel degree and backends may want other values."
        return "warn", f"{here}; {wanted}", todo
    few = here if ours else f"no {_WORDS[machine.vendor]} GPU (0 of {machine.gpus})"
    return "fail", f"{few}; {wanted}", "Run on a machine that has them, or choose a profile that fits this one."


def _of_the_kind(facts: Facts) -> bool:
    """Whether other GPUs of that vendor may do: of AMD's an Instinct of the MI300 generation or after, no Radeon."""
    gfx = facts.node.driver.computing
    return facts.profile.machine.vendor == "nvidia" or any(name.startswith(_INSTINCT) for name in gfx)


def kind(gpu: GpuDevice) -> str | None:
    """Its name as far as it is known; None for an id that is not."""
    return KINDS.get(gpu.device_id) if gpu.vendor == "amd" else gpu.name


def _is(gpu: GpuDevice, wanted: str) -> bool:
    found = kind(gpu) or ""
    return found == wanted if gpu.vendor == "amd" else wanted in found.split()


def counted(devices: Iterable[GpuDevice]) -> str:
    """`8 x MI300X (0x74a1)`; empty for none."""
    names = Counter(f"{kind(gpu) or _WORDS[gpu.vendor] + ' GPU'} ({gpu.device_id})" for gpu in devices)
    return ", ".join(f"{count} x {name}" for name, count in names.items())


def partitions(facts: Facts) -> list[Check]:
    """Whether each GPU is one device with one memory, as the profile's GPU numbers assume."""
    machine = facts.profile.machine
    ours = facts.node.of("amd")
    if machine.vendor != "amd" or not ours:
        return []
    modes = [_modes(facts, gpu) for gpu in ours]
    compute, memory = ({mode for mode in column if mode} for column in zip(*modes, strict=True))
    devices = len(facts.node.driver.computing)
    if not compute and not memory:
        return [_partitions("unknown", f"the driver tells no modes; it offers {devices} devices for computing")]
    words = f"compute {', '.join(sorted(compute)) or 'not told'}, memory {', '.join(sorted(memory)) or 'not told'}"
    whole = compute <= {"SPX"} and memory <= {"NPS1"}
    return [_partitions("ok" if whole else "fail", f"{words}; {devices} devices for computing on {len(ours)} GPUs")]


def _modes(facts: Facts, gpu: GpuDevice) -> tuple[str | None, str | None]:
    """The kernel's word; amdsmi's where an older one has no such file."""
    compute, memory = facts.gpus.modes.get(gpu.bdf, (None, None))
    return gpu.compute or compute, gpu.memory or memory


def _partitions(status: Status, found: str) -> Check:
    fail = status == "fail"
    return Check(
        name="Partitions",
        area="GPU node",
        status=status,
        found=found,
        why="The profile counts whole GPUs (SPX, NPS1). In CPX or NPS4 every partition is a device of its own with "
        "a part of the memory: the same numbers would mean an eighth of a GPU.",
        todo="Set them back when nothing runs on the GPUs." if fail else "",
        command="sudo amd-smi set -g all --compute-partition SPX && sudo amd-smi set -g all --memory-partition NPS1"
        if fail
        else "",
    )


def telemetry(facts: Facts) -> list[Check]:
    """Whether the libraries that energy and power are read through see the GPUs that are here."""
    library = {"amd": "amdsmi", "nvidia": "nvml"}
    return [_telemetry(facts, library[vendor], vendor) for vendor in library if facts.node.of(vendor)]


def _telemetry(facts: Facts, library: str, vendor: str) -> Check:
    seen, there = len(facts.gpus.seen.get(library, ())), len(facts.node.of(vendor))
    silent = facts.gpus.silent if seen else {}
    fine = seen >= there and not silent
    reasons = [facts.gpus.unread.get(library, ""), *(f"{name}: {why}" for name, why in silent.items())]
    reason = "; ".join(filter(None, reasons))
    return Check(
        name=f"GPU telemetry ({library})",
        area="GPU node",
        status="ok" if fine else "warn",
        found=f"{library} reads {seen} of {there} GPUs" + (f": {reason}" if reason else ""),
        why="Energy, power, use and temperature of a GPU come from it; without it they are dashes.",
        todo=""
        if fine
        else "Install the package that fits the driver; ROCm brings its own amdsmi under share/amd_smi.",
        command=""
        if fine
        else "pip install /opt/rocm/share/amd_smi"
        if vendor == "amd"
        else "pip install nvidia-ml-py",
    )
