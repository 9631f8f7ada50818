"""A plan as files that other tools start: docker run, Docker Compose, Kubernetes, Ray Serve.

    files = deploy_files(profile, plan, "k8s")
    write_files(Path("out"), files, force=False)

Pure data as the plan is: nothing is started and nothing is asked of a network. Each form changes only what its tool
makes different (addresses, which GPUs are visible), and the head of its file says what that is. No file holds a secret.
"""

from labkit.engines.deploy.files import DeployFile, write_files
from labkit.engines.deploy.forms import FORMS, deploy_files

__all__ = ["FORMS", "DeployFile", "deploy_files", "write_files"]
