"""`docker run`, a command per process. Host networking: the plan's addresses and ports stay as they are."""

from __future__ import annotations

import shlex

from labkit.engines.deploy.deployment import Container, Deployment, renumbered
from labkit.engines.deploy.files import DeployFile
from labkit.engines.deploy.transfer import needs_rdma, shares_pids
from labkit.engines.deploy.words import HF_CACHE, head, images_said, never_run, router_said
from labkit.engines.plan_text import options_of

INFINIBAND = "/dev/infiniband"
_AMD = (
    ("--device", "/dev/kfd"),
    ("--device", "/dev/dri"),
    ("--group-add", "video"),
    ("--cap-add", "SYS_PTRACE"),
    ("--security-opt", "seccomp=unconfined"),
)


def docker_file(deployment: Deployment) -> DeployFile:
    """The commands in the order in which they must be started, as a shell script."""
    commands = (f"\n# {one.role}\n{docker_command(deployment, one)}\n" for one in deployment.in_order)
    return DeployFile("docker.sh", head(deployment.plan, _said(deployment)) + "".join(commands))


def docker_command(deployment: Deployment, container: Container) -> str:
    """One `docker run`, an option per line. Secrets are named, and taken from the shell that runs it."""
    run = " ".join(["docker run --detach --name", f"{deployment.name}-{container.role}"])
    given = [" ".join([name, shlex.quote(value)]) for name, value in _options(deployment, container)]
    # The shell opens ~ only where it is not quoted.
    cache = [f"--volume ~/.cache/huggingface:{HF_CACHE}"] if container.role != "router" else []
    folder = container.model_folder
    model = [f"--volume {shlex.quote(f'{folder}:{folder}:ro')}"] if folder else []
    words = options_of((container.image, *container.argv[1:]))
    return " \\\n  ".join([run, *given, *cache, *model, f"--entrypoint {shlex.quote(container.argv[0])}", *words])


def _options(deployment: Deployment, container: Container) -> list[tuple[str, str]]:
    pid = [("--pid", "host")] if shares_pids(deployment) else []
    machine = [] if container.role == "router" else _machine(deployment)
    names = [("--env", name) for name in container.secrets]
    env = [("--env", f"{name}={value}") for name, value in container_env(deployment, container).items()]
    return [("--network", "host"), ("--ipc", "host"), *pid, *machine, *names, *env]


def _machine(deployment: Deployment) -> list[tuple[str, str]]:
    vendor = deployment.profile.machine.vendor
    memlock = ("--ulimit", "memlock=-1")
    cards = [("--device", INFINIBAND)] if needs_rdma(deployment) else []
    if vendor == "amd":
        return [*_AMD, *cards, memlock]
    if vendor == "nvidia":
        devices = ",".join(map(str, deployment.gpus))
        return [("--gpus", f'"device={devices}"'), *cards, memlock]  # Docker wants the inner quotes around a list
    return []


def container_env(deployment: Deployment, container: Container) -> dict[str, str]:
    """The plan's environment. NVIDIA's runtime counts the plan's GPUs from 0; /dev/dri has all of AMD's."""
    if deployment.profile.machine.vendor == "nvidia":
        return renumbered(container.env, deployment.gpus)
    return container.env


def _said(deployment: Deployment) -> list[str]:
    order = (
        "The router first: engines announce themselves to it."
        if deployment.plan.router_first
        else "The engines first; start the router once each answers GET /health with 200."
    )
    pids = ("--pid host: HIP IPC and UCX would take two containers' equal process ids for one process.",)
    return [
        *((order,) if deployment.router else ()),
        "Host network, as the plan has it: servers listen on 127.0.0.1 of this machine. To end them:",
        "  docker rm --force " + " ".join(f"{deployment.name}-{one.role}" for one in deployment.containers),
        "HF_TOKEN is taken from the shell that runs this; it stands in no file.",
        *(pids if shares_pids(deployment) else ()),
        *images_said(deployment),
        *router_said(deployment),
        *never_run(deployment),
    ]
