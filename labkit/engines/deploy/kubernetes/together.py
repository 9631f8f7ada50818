"""Several engine processes in one container: a shell script that starts them, and ends when one of them does."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from labkit.engines.deploy.deployment import Container
from labkit.engines.plan_text import options_of

_BEFORE = """\
pids=
alive() { for pid in $pids; do kill -0 $pid 2> /dev/null || return 1; done; }
trap 'kill $pids; wait; exit 0' TERM INT
"""
# Asked once a second: bash's `wait -n` does not return for one that had ended before it was called.
_AFTER = """\
while alive; do sleep 1 & wait $!; done
kill $pids; wait
exit 1
"""


def script(containers: Sequence[Container]) -> str:
    """For bash. Each process is given its environment by `env`: the container's own holds only what is secret.

    When one process ends the others are ended and the script fails: Kubernetes starts the whole again.
    """
    starts = (f'# {one.role}\n{_start(one)} &\npids="$pids $!"\n' for one in containers)
    return "".join([_BEFORE, *starts, _AFTER])


def _start(container: Container) -> str:
    env = [shlex.quote(f"{name}={value}") for name, value in container.env.items()]
    return " \\\n  ".join(["env", *env, *options_of(container.argv)])
