"""What every form of a deployment is made of: the plan's processes as containers of images."""

from __future__ import annotations

import re
from dataclasses import dataclass

from labkit.core.errors import LabError
from labkit.core.masking import is_secret, masked, masked_words
from labkit.engines.deploy.arguments import options
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.profiles import Profile

ROUTER_IMAGE = "vllm/vllm-router:nightly"
"""The router project's own image, where a profile names none; vLLM's images are not said to have the router."""
VISIBLE_DEVICES = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
_LONGEST = 40


@dataclass(frozen=True, kw_only=True)
class Container:
    """One process of the plan in its image. `role`, `port`, `memory_bytes`: as in the plan.

    `env`: without secrets; `secrets`: names of variables that are taken from where the container is started. `gpus`:
    the machine's numbers. `model_folder`: a folder of this machine that the command line names, else None.
    """

    role: str
    image: str
    argv: tuple[str, ...]
    env: dict[str, str]
    secrets: tuple[str, ...]
    port: int
    gpus: tuple[int, ...]
    memory_bytes: int
    model_folder: str | None


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A plan as containers. `name`: a DNS label. The last container takes the requests."""

    name: str
    plan: Plan
    profile: Profile
    containers: tuple[Container, ...]

    @property
    def engines(self) -> tuple[Container, ...]:
        return tuple(container for container in self.containers if container.role != "router")

    @property
    def router(self) -> Container | None:
        return next((container for container in self.containers if container.role == "router"), None)

    @property
    def gpus(self) -> tuple[int, ...]:
        """Every GPU that some process has, ascending."""
        return tuple(sorted({gpu for container in self.containers for gpu in container.gpus}))

    @property
    def is_split(self) -> bool:
        return any(container.role == "prefill" for container in self.containers)

    @property
    def in_order(self) -> tuple[Container, ...]:
        """The containers as they must be started."""
        return tuple(sorted(self.containers, key=lambda one: (one.role == "router") != self.plan.router_first))


def deployment(profile: Profile, plan: Plan) -> Deployment:
    """`plan` in the image of its profile. Raises LabError when the profile has none."""
    if profile.machine.image is None:
        raise LabError(
            f"the profile {profile.name} names no container image",
            "Take --as shell or --as ray-serve, or set `image` under [machine] in a copy of the profile.",
        )
    image = profile.machine.image
    containers = tuple(_container(profile, process, image) for process in plan.processes)
    return Deployment(name=dns_name(plan), plan=plan, profile=profile, containers=containers)


def dns_name(plan: Plan) -> str:
    """The profile and the arm as a name that Docker, Kubernetes and Ray all take, at most 40 letters."""
    name = re.sub(r"[^a-z0-9]+", "-", f"labkit {plan.profile} {plan.arm}".lower()).strip("-")
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 7].rstrip('-')}-{plan.key[:6]}"


def gpus_of(profile: Profile, role: str) -> tuple[int, ...]:
    """The GPUs of a process: the profile's second entry is of decode and `engine-1`, its first of any other engine."""
    if role == "router" or not profile.engine.gpus:
        return ()
    return profile.engine.gpus[1 if role in ("decode", "engine-1") else 0]


def renumbered(env: dict[str, str], gpus: tuple[int, ...]) -> dict[str, str]:
    """`env` for a container that has these GPUs alone and so counts them from 0."""
    place = {str(gpu): str(index) for index, gpu in enumerate(gpus)}

    def text(name: str, value: str) -> str:
        return ",".join(place.get(gpu, gpu) for gpu in value.split(",")) if name in VISIBLE_DEVICES else value

    return {name: text(name, value) for name, value in env.items()}


def _container(profile: Profile, process: ProcessSpec, image: str) -> Container:
    router = process.role == "router"
    secret = tuple(name for name in process.env if is_secret(name))
    return Container(
        role=process.role,
        image=_router_image(profile, process, image) if router else image,
        argv=_program(profile, process),
        env={name: masked(name, value) for name, value in process.env.items() if name not in secret},
        secrets=secret if router else tuple(dict.fromkeys(["HF_TOKEN", *secret])),
        port=process.port,
        gpus=gpus_of(profile, process.role),
        memory_bytes=process.memory_bytes,
        model_folder=None if router else _model_folder(process),
    )


def _router_image(profile: Profile, process: ProcessSpec, image: str) -> str:
    """A router that is a module of the engine's Python is looked for there."""
    own = ROUTER_IMAGE if process.argv[0] == "vllm-router" else image
    return profile.machine.router_image or own


def _program(profile: Profile, process: ProcessSpec) -> tuple[str, ...]:
    """The command line; labkit's own interpreter is a path that no image has."""
    words = tuple(masked_words(process.argv))
    return ("python3", *words[1:]) if profile.engine.command == "python" else words


def _model_folder(process: ProcessSpec) -> str | None:
    known = options(process.argv)
    model = known.get("--model") or known.get("--model-path") or next(iter(process.argv[2:3]), "")
    return model if model.startswith("/") else None
