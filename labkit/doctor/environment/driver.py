"""Is the GPUs' driver there, may this user open its files, and does it fit what the engine was built for?"""

from __future__ import annotations

from labkit.doctor.facts import Facts
from labkit.doctor.node.records import Driver
from labkit.doctor.records import Check, Status

_CONTAINER = {
    "amd": "docker run --device /dev/kfd --device /dev/dri --group-add video --group-add render --ipc host ...",
    "nvidia": "docker run --gpus all --ipc host ...",
}


def driver(facts: Facts) -> list[Check]:
    """The kernel's side of the GPUs that are on the bus."""
    vendor, here = facts.profile.machine.vendor, facts.node.driver
    if not facts.node.of(vendor):
        return []
    fine, found, command = _amd(here, facts.profile.machine.gpus) if vendor == "amd" else _nvidia(here)
    return [
        Check(
            name="GPU driver",
            area="GPU node",
            status="ok" if fine else "fail",
            found=found,
            why="The GPUs are on the bus; without their driver no program can compute on them.",
            todo="" if fine else "Load the driver on the host; in a container, hand its device files in.",
            command="" if fine else command,
        )
    ]


def _amd(here: Driver, wanted: int) -> tuple[bool, str, str]:
    """Whether it is fine, what is found, and what mends it. A container may see eight GPUs on the bus and have one."""
    if here.amdgpu is None and not here.kfd:
        return False, "amdgpu is not loaded and there is no /dev/kfd", "sudo modprobe amdgpu"
    module = "the kernel's own amdgpu" if here.amdgpu == "" else f"amdgpu {here.amdgpu or '(version not told)'}"
    if not here.kfd:
        return False, f"{module}, but there is no /dev/kfd here", _CONTAINER["amd"]
    if not here.computing:
        return False, f"{module} and /dev/kfd, but no GPU is offered for computing", "sudo dmesg | grep -i amdgpu"
    gfx = ", ".join(sorted(set(here.computing)))
    found = f"{module}; {_devices(len(here.computing))} for computing ({gfx})"
    if len(here.computing) < wanted:
        return False, f"{found} open to this process, {wanted} wanted", _CONTAINER["amd"]
    return True, found, ""


def _devices(count: int) -> str:
    return f"{count} device{'s' * (count != 1)}"


def _nvidia(here: Driver) -> tuple[bool, str, str]:
    if here.nvidia is None:
        return False, "NVML finds no driver", "nvidia-smi"
    return True, f"NVIDIA {here.nvidia}, serves CUDA up to {here.cuda}", ""


def device_files(facts: Facts) -> list[Check]:
    """/dev/kfd and the render nodes: an engine opens them for reading and writing."""
    vendor, files = facts.profile.machine.vendor, facts.node.files
    if not facts.node.of(vendor):
        return []
    closed = [file for file in files if not file.usable]
    missing = vendor == "amd" and not any("renderD" in file.path for file in files)
    fine = not closed and not missing
    groups = ",".join(sorted({file.group for file in closed})) or "video,render"
    return [
        Check(
            name="Rights",
            area="GPU node",
            status="ok" if fine else "fail",
            found="there is no /dev/dri/renderD* here"
            if missing
            else f"not readable and writable: {', '.join(f'{file.path} (group {file.group})' for file in closed)}"
            if closed
            else f"all {len(files)} device files can be read and written",
            why="A program that may not open them sees no GPU at all, and says so in many ways.",
            todo=""
            if fine
            else "Join their groups and log in again; a container gets files and groups by its options.",
            command="" if fine else _CONTAINER[vendor] if missing else f"sudo usermod -aG {groups} $USER",
        )
    ]


def runtime(facts: Facts) -> list[Check]:
    """ROCm or CUDA of the machine against what torch in the engine's Python was built for."""
    vendor, has = facts.profile.machine.vendor, facts.installation
    if vendor == "cpu" or not facts.node.of(vendor) or has is None:
        return []
    name, here = ("ROCm", facts.node.driver.rocm) if vendor == "amd" else ("CUDA", facts.node.driver.cuda)
    built = has.torch.get("hip" if vendor == "amd" else "cuda")
    status = _fits(vendor, here, built)
    return [
        Check(
            name=f"{name} version",
            area="GPU node",
            status=status,
            found=f"{_here(name, here)}; torch is built for {built or 'none'}",
            why=f"Kernels of one {name} loaded by the libraries of another fail at the first call, or not at all.",
            todo="Take the engine's image for this driver, or the driver for this image." if status == "warn" else "",
            command=f"docker pull {facts.profile.machine.image}" if status == "warn" else "",
        )
    ]


def _here(name: str, version: str | None) -> str:
    if name == "CUDA":
        return f"the driver serves CUDA up to {version or 'nobody knows what'}"
    return f"/opt/rocm is ROCm {version}" if version else "no /opt/rocm (a wheel brings its own libraries)"


def _fits(vendor: str, here: str | None, built: str | None) -> Status:
    """ROCm: same major and minor number; CUDA: a driver serves what is not newer than its own."""
    if here is None or built is None:
        return "unknown"
    ours, theirs = (
        tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) for version in (here, built)
    )
    return "ok" if (ours == theirs if vendor == "amd" else ours >= theirs) else "warn"
