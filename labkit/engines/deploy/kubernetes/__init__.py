"""Kubernetes manifests of a plan: Deployments, Services, and references by name to what the cluster keeps.

`placement.py` says which processes must share a container and why, `addresses.py` what pod networking does to the plan,
`pods.py` and `services.py` make the objects.
"""

from labkit.engines.deploy.kubernetes.manifest import kubernetes_file

__all__ = ["kubernetes_file"]
