"""Trees that look like the files of another machine: /sys, /proc, /dev and /opt/rocm of an eight-GPU MI300X node."""

from __future__ import annotations

from pathlib import Path

from labkit.doctor.node.roots import Roots

GIB = 1 << 30


def write(folder: Path, **files: object) -> None:
    """Files of a folder of /sys, by name; `__` in a name stands for nothing but itself."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name).write_text(f"{value}\n")


def pci(root: Path, bdf: str, vendor: str, device: str, kind: str, **more: object) -> None:
    """A device on the bus; a file's name cannot be a keyword of Python, so `class` is `kind` here."""
    folder = root / "sys" / "bus" / "pci" / "devices" / bdf
    write(folder, vendor=vendor, device=device, **more)
    (folder / "class").write_text(f"{kind}\n")


def mi300x(root: Path, number: int, *, compute: str = "SPX", memory: str = "NPS1", used: int = 300 << 20) -> None:
    """One MI300X with amdgpu's own files."""
    modes = {"current_compute_partition": compute, "current_memory_partition": memory}
    room = {"mem_info_vram_total": 192 * GIB, "mem_info_vram_used": used}
    pci(root, f"0000:{number:02x}:00.0", "0x1002", "0x74a1", "0x120000", **modes, **room)


def kfd_node(root: Path, number: int, simd: int, gfx: int) -> None:
    """A node of KFD's topology: a CPU has no SIMDs."""
    folder = root / "sys" / "class" / "kfd" / "kfd" / "topology" / "nodes" / str(number)
    write(folder, properties=f"cpu_cores_count 0\nsimd_count {simd}\ngfx_target_version {gfx}\ndevice_id 29857")


def user(root: Path, pid: int, name: str, vram: int) -> None:
    """A process that has opened /dev/kfd."""
    write(root / "sys" / "class" / "kfd" / "kfd" / "proc" / str(pid), vram_51110=vram, vram_2987=0, pasid=32771)
    write(root / "proc" / str(pid), comm=name)


def node_of_eight(root: Path) -> Roots:
    """A sound one, in ROCm 7.0, with one RDMA card of two of which a port is active."""
    for number in range(8):
        mi300x(root, number)
        kfd_node(root, number + 2, 1216, 90402)
    for number in range(2):
        kfd_node(root, number, 0, 0)
    pci(root, "0000:a0:00.0", "0x8086", "0x1572", "0x020000")
    write(root / "sys" / "module" / "amdgpu", version="6.14.14")
    write(root / "rocm" / ".info", version="7.0.0-38")
    write(root / "proc" / "sys" / "kernel", numa_balancing=1)
    write(root / "dev", kfd="")
    write(root / "dev" / "dri", renderD128="", renderD129="", card0="")
    write(root / "sys" / "class" / "infiniband" / "mlx5_0" / "ports" / "1", state="4: ACTIVE")
    write(root / "sys" / "class" / "infiniband" / "mlx5_1" / "ports" / "1", state="1: DOWN")
    return roots(root)


def roots(root: Path) -> Roots:
    """All four below one folder."""
    return Roots(sys=root / "sys", proc=root / "proc", dev=root / "dev", rocm=root / "rocm")
