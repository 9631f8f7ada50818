"""What may stand in a profile.

`Flags` are an engine's command line as data: `true` is `--name`, `false` is `--no-name`, a table is JSON, anything
else is its text. Values may hold markers that the plan fills in: `{model}`, `{cores}`, `{gpus}`, `{port:NAME}`.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from labkit.core.errors import BadInput

FlagValue = bool | int | float | str | dict[str, Any] | list[Any]
Flags = dict[str, FlagValue]


class _Table(BaseModel):
    """A misspelt key is an error, not a setting that silently does nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Machine(_Table):
    """What the profile is for. `vendor`: whose GPUs, or `cpu`; `gpu`: their name; `gpus`: how many the node has.

    `image`: the container image that has the engine, without a digest where none is known. `router_image`: the one that
    has the router; None: vllm-router's own by its project's tag, and the engine's image for a router that is a module.
    """

    vendor: Literal["cpu", "amd", "nvidia"] = "cpu"
    gpu: str | None = None
    gpus: int = Field(default=0, ge=0)
    image: str | None = None
    router_image: str | None = None


class Model(_Table):
    """Either `weights` (a name of `labkit models`) or `path` (a folder or hub id that the engine itself resolves)."""

    served: str
    weights: str | None = None
    path: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.weights is None) == (self.path is None):
            raise ValueError("give either `weights` or `path`")
        return self


class EngineSettings(_Table):
    """What every engine process of every arm has. `memory_gib`: host memory of one process group.

    `command`: `python` is vLLM in labkit's own interpreter, `vllm` the program of an image, `sglang` SGLang's server.
    """

    command: Literal["python", "vllm", "sglang"]
    fast_start: bool = False
    cores: tuple[int, ...] = ()
    gpus: tuple[tuple[int, ...], ...] = ()
    replicas: int = Field(default=1, ge=1, le=2)
    memory_gib: float = Field(gt=0)
    max_startup_s: float = Field(gt=0)
    expected_start_s: float = Field(gt=0)
    flags: Flags
    env: dict[str, str] = {}


class PrefixCaching(_Table):
    """Flags of the layer, on and off."""

    on: Flags
    off: Flags


class SpecMethod(_Table):
    """One drafter. `pins`: flags that all eight arms get when an experiment asks for this method."""

    about: str
    config: dict[str, Any]
    pins: Flags = {}


class Speculation(_Table):
    """The drafters of a profile, and flags that only an engine with a drafter accepts."""

    default: str
    flags: Flags = {}
    methods: dict[str, SpecMethod]

    @model_validator(mode="after")
    def _default_exists(self) -> Self:
        if self.default not in self.methods:
            raise ValueError(f"default {self.default!r} is not among the methods {sorted(self.methods)}")
        return self


class PdSplit(_Table):
    """Prefill and decode apart. `transfer`: what carries the KV, and so how the router pairs them.

    vLLM: nixl (static URLs), moriio (discovery). SGLang: mori or mooncake (static URLs and a bootstrap port each).
    """

    transfer: Literal["nixl", "moriio", "mori", "mooncake"]
    connector: dict[str, Any]
    router_policy: str
    router_first: bool = False
    expected_start_s: float = Field(gt=0)
    env: dict[str, str] = {}


class Layers(_Table):
    """What each of the three layers adds; nothing else may differ between arms."""

    prefix_caching: PrefixCaching
    speculation: Speculation
    pd_split: PdSplit


class Variant(_Table):
    """A change of the profile with a name: tables that are laid over it, key by key. `about`: what it asks."""

    about: str
    engine: dict[str, Any] = {}
    layers: dict[str, Any] = {}
    ports: dict[str, int] = {}


class Profile(_Table):
    """A whole profile. `ports`: fixed port numbers by name; those not named are taken from what is free.

    `variants`: by name; `PROFILE+NAME` is the profile with one of them.
    """

    name: str
    title: str
    machine: Machine = Machine()
    model: Model
    engine: EngineSettings
    layers: Layers
    ports: dict[str, int] = {}
    variants: dict[str, Variant] = {}

    @model_validator(mode="after")
    def _gpus_of_the_machine(self) -> Self:
        """Raises BadInput as it is: pydantic's own error would name the whole profile for a field of two tables."""
        there = self.machine.gpus
        for gpu in (gpu for process in self.engine.gpus for gpu in process):
            if not 0 <= gpu < there:
                allowed = f"0 to {there - 1}" if there > 1 else "0" if there else "none"
                hint = f"`gpus` under [machine] says how many GPUs the node of {self.name} has."
                raise BadInput("engine.gpus", gpu, f"{allowed}, as machine.gpus is {there}", hint)
        return self
