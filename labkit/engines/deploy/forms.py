"""The forms in which a plan can be said, by name."""

from __future__ import annotations

from collections.abc import Callable

from labkit.core.names import pick
from labkit.engines.deploy.compose import compose_file
from labkit.engines.deploy.deployment import deployment
from labkit.engines.deploy.docker import docker_file
from labkit.engines.deploy.files import DeployFile
from labkit.engines.deploy.kubernetes import kubernetes_file
from labkit.engines.deploy.ray_serve import ray_serve_file
from labkit.engines.plan_records import Plan
from labkit.engines.plan_text import plan_text
from labkit.engines.profiles import Profile

Form = Callable[[Profile, Plan], DeployFile]


def _shell(profile: Profile, plan: Plan) -> DeployFile:
    return DeployFile("commands.sh", plan_text(plan) + "\n")


FORMS: dict[str, Form] = {
    "shell": _shell,
    "docker": lambda profile, plan: docker_file(deployment(profile, plan)),
    "compose": lambda profile, plan: compose_file(deployment(profile, plan)),
    "k8s": lambda profile, plan: kubernetes_file(deployment(profile, plan)),
    "ray-serve": ray_serve_file,
}
"""What `labkit plan --as` takes."""


def deploy_files(profile: Profile, plan: Plan, form: str) -> tuple[DeployFile, ...]:
    """The files that say `plan` in `form`, one of FORMS. `profile` is the one that the plan was made of.

    Raises UnknownName for another form, LabError where a form cannot say this plan (the hint names one that can).
    """
    return (pick("form", form, FORMS, "labkit plan --help")(profile, plan),)
