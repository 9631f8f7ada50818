"""From a profile and an arm to processes: which there are, and each one's command line and environment.

The one place that knows what a layer adds. Everything else in a command line comes from `[engine]` of the profile and
is the same in all eight arms.
"""

from __future__ import annotations

from dataclasses import replace

from labkit.engines.choice import Choice
from labkit.engines.flags import fill, to_argv
from labkit.engines.plan_records import ProcessSpec
from labkit.engines.profiles import Profile
from labkit.engines.profiles.schema import Flags
from labkit.engines.router import router
from labkit.engines.sglang.layout import sglang_layout

__all__ = ["Choice", "layout"]

_GIB = 1 << 30


def layout(profile: Profile, choice: Choice) -> tuple[ProcessSpec, ...]:
    """The processes with port markers; the one that takes requests is the last."""
    if profile.engine.command == "sglang":
        return sglang_layout(profile, choice)
    if choice.arm.pd_split:
        halves = (_split(profile, choice, 0, "prefill"), _split(profile, choice, 1, "decode"))
        return (*halves, router(profile, choice.python, halves, pd=True))
    engines = tuple(
        _engine(profile, choice, index, role) for index, role in enumerate(_replica_roles(profile.engine.replicas))
    )
    return engines if len(engines) == 1 else (*engines, router(profile, choice.python, engines, pd=False))


def _replica_roles(count: int) -> tuple[str, ...]:
    return ("engine",) if count == 1 else tuple(f"engine-{index}" for index in range(count))


def _engine(profile: Profile, choice: Choice, index: int, role: str) -> ProcessSpec:
    """One engine process without a KV connector, on the cores or GPUs of its index."""
    settings = profile.engine
    cores = _cores_of(choice.cores, role)
    values = {
        "model": choice.model,
        "cores": str(len(choice.cores)),
        "gpus": ",".join(str(gpu) for gpu in settings.gpus[index]) if settings.gpus else "",
    }
    argv = (
        *_command(profile, choice),
        *("--served-model-name", profile.model.served),
        *("--host", "127.0.0.1", "--port", f"{{port:{role}}}"),
        *to_argv(fill(_flags(profile, choice), values)),
    )
    env = fill({**settings.env, **_binding(cores, fast=settings.fast_start)}, values)
    return ProcessSpec(role=role, argv=argv, env=env, memory_bytes=int(settings.memory_gib * _GIB))


def _split(profile: Profile, choice: Choice, index: int, role: str) -> ProcessSpec:
    """One half of the split: the engine of its index, plus the connector."""
    pd = profile.layers.pd_split
    plain = _engine(profile, choice, index, role)
    kv_role = "kv_producer" if role == "prefill" else "kv_consumer"
    connector = to_argv({"kv-transfer-config": {**pd.connector, "kv_role": kv_role}})
    argv = [argument.replace("{port:self", f"{{port:{role}") for argument in connector]
    env = dict(pd.env)
    if pd.transfer == "nixl":  # handshakes of P and D need a port each
        env["VLLM_NIXL_SIDE_CHANNEL_PORT"] = f"{{port:{role}-side}}"
    return replace(plain, argv=(*plain.argv, *argv), env={**plain.env, **env})


def _flags(profile: Profile, choice: Choice) -> Flags:
    """The profile's flags, the method's pins, then what the arm's layers add."""
    layers, arm = profile.layers, choice.arm
    method = layers.speculation.methods[choice.method]
    caching = arm.prefix_caching or choice.salted
    flags = {**profile.engine.flags, **method.pins}
    flags |= layers.prefix_caching.on if caching else layers.prefix_caching.off
    if arm.speculation:
        flags |= {"speculative-config": method.config, **layers.speculation.flags}
    return flags


def _command(profile: Profile, choice: Choice) -> tuple[str, ...]:
    if profile.engine.command == "vllm":
        return ("vllm", "serve", choice.model)
    module = "labkit_vllm_cpu.serve" if profile.engine.fast_start else "vllm.entrypoints.openai.api_server"
    return (choice.python, "-m", module, "--model", choice.model)


def _cores_of(cores: tuple[int, ...], role: str) -> tuple[int, ...]:
    """Prefill gets the first half. Decode gets the second half first and then prefill's as well: an agent's prefill is
    over when its decode begins, and on two cores half of the machine would stand idle otherwise."""
    if role not in ("prefill", "decode") or len(cores) < 2:
        return cores
    half = len(cores) // 2
    return cores[:half] if role == "prefill" else (*cores[half:], *cores[:half])


def _binding(cores: tuple[int, ...], *, fast: bool) -> dict[str, str]:
    """vLLM's own binding sorts its list; the plugin's keeps the order, and the first core runs the main thread."""
    if not cores:
        return {}
    text = ",".join(str(core) for core in cores)
    return {"LABKIT_VLLM_CPU_BIND" if fast else "VLLM_CPU_OMP_THREADS_BIND": text}
