"""What the head of a file says: which plan it is, what was changed, and what nobody has checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labkit.core.masking import masked, masked_words
from labkit.core.secret_places import MASK
from labkit.engines.deploy.deployment import Deployment
from labkit.engines.plan_records import Plan
from labkit.engines.routers import router_package

HF_CACHE = "/root/.cache/huggingface"
"""Where the images keep what they fetch from the Hugging Face hub (root's home)."""


def head(plan: Plan, lines: Iterable[str]) -> str:
    """Comment lines: the plan first, then `lines`; an empty one stays empty behind its sign."""
    first = f"{plan.profile}, arm {plan.arm}, key {plan.key}, by `labkit plan`; requests go to port {plan.entry.port}."
    return "".join(f"# {line}".rstrip() + "\n" for line in (first, *lines, *_hidden(plan)))


def _hidden(plan: Plan) -> Sequence[str]:
    """A secret that is not a variable of its own cannot be taken from elsewhere: somebody has to put it in."""
    words = [word for process in plan.processes for word in masked_words(process.argv)]
    values = [masked(name, value) for process in plan.processes for name, value in process.env.items()]
    texts = [value for value in values if value != MASK]
    return (f"Put the secrets in where `{MASK}` stands.",) if any(MASK in text for text in (*words, *texts)) else ()


def images_said(deployment: Deployment) -> Sequence[str]:
    """How to pin the images that are named by a tag alone."""
    tags = sorted({one.image for one in deployment.containers if "@sha256:" not in one.image})
    if not tags:
        return ()
    return (
        "",
        "By tag, not by digest, and not checked by us (neither that the tag exists nor what is in it):",
        *(f"  {tag}" for tag in tags),
        "A tag can be moved. Pin what you test: docker pull IMAGE, then",
        "  docker image inspect --format '{{index .RepoDigests 0}}' IMAGE",
        "and put the answer (NAME@sha256:...) in the image's place, in the profile's [machine] too.",
    )


def router_said(deployment: Deployment) -> Sequence[str]:
    """Which router was proven; and that an image of the engine alone has to be given it."""
    router, package = deployment.router, router_package(deployment.profile)
    if router is None:
        return ()
    proven = f"What was proven is {package.name} {package.version}"
    if router.image != deployment.engines[0].image:
        return ("", f"{proven}; the version in {router.image} may differ.")
    return (
        "",
        f"{proven}, and the engine's image is not said to have it. Build one that has:",
        f"  FROM {router.image}",
        f"  RUN python3 -m pip install {package.requirement}",
        "and name it as `router_image` in the profile's [machine].",
    )


def never_run(deployment: Deployment) -> Sequence[str]:
    """What this file's claim is: the plan's settings in the tool's own schema, and no more."""
    gpu = deployment.profile.machine.gpu
    return ("", f"Written from source and documents; this project has not run it on {gpu or 'such a machine'}.")
