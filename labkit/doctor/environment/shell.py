"""What this shell, its limits and its kernel hand on to an engine, or keep from it."""

from __future__ import annotations

from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Status

_LOCKED = 1 << 30
_FILES = 65_535
"""What vLLM 0.32 raises its limit to when it starts, as far as it may (utils/system_utils.py)."""
_CONTAINER_LIMITS = "docker run --ulimit memlock=-1 --ulimit nofile=1048576:1048576 ..."


def visible_devices(facts: Facts) -> list[Check]:
    """Variables that hide or renumber GPUs. Engines do not inherit them; programs of this shell do."""
    said = facts.node.variables
    if not facts.profile.machine.gpus:
        return []
    hip, cuda = said.get("HIP_VISIBLE_DEVICES"), said.get("CUDA_VISIBLE_DEVICES")
    differ = hip is not None and cuda is not None and hip != cuda
    words = ", ".join(f"{name}={value}" for name, value in said.items())
    return [
        Check(
            name="Visible devices",
            area="GPU node",
            status="warn" if said else "ok",
            found=f"this shell has {words}" if said else "this shell hides no GPU; each plan sets its own",
            why=_why_visible(differ, "ROCR_VISIBLE_DEVICES" in said),
            todo="Leave it to the plans: unset them before you start anything by hand." if said else "",
            command=f"unset {' '.join(said)}" if said else "",
            stops=(),
        )
    ]


def _why_visible(differ: bool, rocr: bool) -> str:
    why = "The lab's engines do not get them: a plan sets the GPUs of each."
    if differ:
        why += (
            " vLLM started by hand would raise ValueError: HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES must be equal."
        )
    if rocr:
        why += " ROCR_VISIBLE_DEVICES renumbers what HIP_VISIBLE_DEVICES then counts."
    return why


def old_variables(facts: Facts) -> list[Check]:
    """MoRI-IO's variables of older recipes, which say nothing any more."""
    if facts.profile.layers.pd_split.transfer != "moriio":
        return []
    old = facts.node.ignored
    return [
        Check(
            name="Old MoRI-IO variables",
            area="transfer",
            status="warn" if old else "ok",
            found=f"set in this shell: {', '.join(old)}" if old else "none is set",
            why="Engines do not inherit them, and vLLM 0.32 would ignore them: a recipe with READ_MODE=1 runs WRITE.",
            todo="; ".join(f"{name}: {instead}" for name, instead in old.items()) + "." if old else "",
            command=f"unset {' '.join(old)}" if old else "",
            stops=(),
        )
    ]


def limits(facts: Facts) -> list[Check]:
    """Locked memory and open files, which an engine inherits from here."""
    if not facts.profile.machine.gpus:
        return []
    locked, files = facts.node.limits.memlock, facts.node.limits.files
    short = 0 <= locked < _LOCKED
    status: Status = "warn" if short or files < _FILES else "ok"
    amount = "unlimited" if locked < 0 else f"{locked >> 10:,} KiB"
    return [
        Check(
            name="Limits",
            area="GPU node",
            status=status,
            found=f"locked memory (ulimit -l) {amount}; open files (ulimit -Hn) {files:,}",
            why="Memory that is registered with a network card is locked, up to this limit, so GPU containers are "
            "started without one; and an engine that may open too few files fails under load.",
            todo="Raise them where the container or the login session is started." if status == "warn" else "",
            command=_CONTAINER_LIMITS if status == "warn" else "",
        )
    ]


def numa_balancing(facts: Facts) -> list[Check]:
    """The kernel's automatic moving of pages between NUMA nodes."""
    if facts.profile.machine.vendor != "amd":
        return []
    said = facts.node.numa_balancing
    status: Status = "unknown" if said is None else "warn" if said else "ok"
    return [
        Check(
            name="NUMA balancing",
            area="GPU node",
            status=status,
            found="the kernel does not tell" if said is None else f"kernel.numa_balancing = {said}",
            why="Advice of AMD's guides for these GPUs (rocm.docs.amd.com, system validation): most programs run more "
            "evenly without it, though some do not.",
            todo="Switch it off on the host while you measure." if status == "warn" else "",
            command="sudo sh -c 'echo 0 > /proc/sys/kernel/numa_balancing'" if status == "warn" else "",
        )
    ]
