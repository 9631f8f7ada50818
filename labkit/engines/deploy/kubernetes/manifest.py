"""The manifest: every object in one file, under what a reader must know before `kubectl apply`."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.engines.deploy.deployment import Deployment
from labkit.engines.deploy.files import DeployFile
from labkit.engines.deploy.kubernetes.addresses import service_name
from labkit.engines.deploy.kubernetes.placement import why_together
from labkit.engines.deploy.kubernetes.pods import HF_CLAIM, HF_SECRET, RESOURCES, deployments
from labkit.engines.deploy.kubernetes.services import services
from labkit.engines.deploy.transfer import needs_rdma
from labkit.engines.deploy.words import head, images_said, never_run, router_said
from labkit.engines.deploy.yaml_text import yaml_text


def kubernetes_file(deployment: Deployment) -> DeployFile:
    """Deployments and Services, as one file of several documents."""
    why = why_together(deployment)
    objects = [*deployments(deployment, together=bool(why)), *services(deployment, together=bool(why))]
    said = [
        *_used(deployment),
        *_changed(why),
        *_apart(deployment, why),
        *_cards(deployment),
        *images_said(deployment),
        *router_said(deployment),
        *never_run(deployment),
    ]
    return DeployFile("k8s.yaml", head(deployment.plan, said) + "\n" + yaml_text(objects))


def _used(deployment: Deployment) -> Sequence[str]:
    entry = service_name(deployment, deployment.containers[-1].role)
    secrets = {name for one in deployment.containers for name in one.secrets} - {"HF_TOKEN"}
    own = (f"  and the Secret {deployment.name}-secrets with {', '.join(sorted(secrets))}",) if secrets else ()
    resource = RESOURCES.get(deployment.profile.machine.vendor)
    return (
        "kubectl apply --filename k8s.yaml; then, from this machine:",
        f"  kubectl port-forward service/{entry} {deployment.plan.entry.port}",
        "The namespace must have, by these names (no secret stands in this file):",
        f"  the Secret {HF_SECRET} with the key HF_TOKEN, where the model asks for one",
        f"  the PersistentVolumeClaim {HF_CLAIM}, with room for the weights (ReadWriteMany on several nodes)",
        *own,
        *((f"The nodes need the device plugin that offers {resource}.",) if resource else ()),
    )


def _changed(why: Sequence[str]) -> Sequence[str]:
    listens = (
        "",
        "Changed from the plan, which is of one machine: servers listen on 0.0.0.0 of their pod instead of 127.0.0.1,",
        "since probes and Services come in by the pod's address. Who may reach them is for a NetworkPolicy to say: the",
        "engines ask for no key.",
    )
    if why:
        return (
            *listens,
            *why,
            "Within their pod the plan's addresses (127.0.0.1), ports and visible GPUs hold.",
        )
    return (
        *listens,
        "The device plugin chooses the GPUs, so HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES are not set. Pods call",
        "each other by the names of their Services; an engine says of itself its pod's address (status.podIP).",
    )


def _apart(deployment: Deployment, why: Sequence[str]) -> Sequence[str]:
    """What pods of their own mean for a comparison, and for the transfer of a split."""
    if why or len(deployment.containers) == 1:
        return ()
    near = ("Pods are asked to share a node, not forced to: before comparing, look where they are (get pods -o wide).",)
    split = ("KV goes between pods over the network: NIXL takes the fastest way that UCX finds there.",)
    return (*near, *split) if deployment.is_split and not needs_rdma(deployment) else near


def _cards(deployment: Deployment) -> Sequence[str]:
    if not needs_rdma(deployment):
        return ()
    return (
        "KV goes over RDMA, and not without: give each pod that has an engine RDMA network cards, by the resource that",
        "the cluster's plugin for them offers.",
    )
