"""Environment variables that once set MoRI-IO up, and what says the same today.

vLLM 0.32 logs a warning for each and goes on without it (`moriio_common.py`), so that a recipe with
`VLLM_MORIIO_CONNECTOR_READ_MODE=1` runs WRITE. Engines do not inherit VLLM_* from a shell in any case.
"""

from __future__ import annotations

from collections.abc import Mapping

from labkit.core.errors import BadInput
from labkit.engines.moriio.halves import halves
from labkit.engines.plan_records import Plan

IGNORED = {
    "VLLM_MORIIO_CONNECTOR_READ_MODE": "read_mode = true",
    "VLLM_MORIIO_QP_PER_TRANSFER": "qp_per_transfer = 1",
    "VLLM_MORIIO_POST_BATCH_SIZE": "post_batch_size = -1",
    "VLLM_MORIIO_NUM_WORKERS": "num_workers = 1",
}
"""Variables that vLLM 0.32 ignores, and the line that says it in kv_connector_extra_config."""
SUPERSEDED = {"VLLM_MORIIO_TRANSFER_TIMEOUT_S": "recv_abort_timeout = 120"}
"""One that vLLM 0.32 still reads, with a warning, where kv_connector_extra_config has no recv_abort_timeout."""
_PREFIX = "VLLM_MORIIO_"
_TABLE = "[layers.pd_split.connector.kv_connector_extra_config]"


def ignored_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of `environ` that mean to set MoRI-IO up and do not, each with what to write instead."""
    return {name: _instead(name) for name in sorted(environ) if name.startswith(_PREFIX)}


def check_variables(table: str, env: Mapping[str, str]) -> None:
    """Raises BadInput for the first of them in `env`, the profile's table with that name."""
    for name, instead in ignored_variables(env).items():
        raise BadInput(f"{table}.{name}", env[name], "no such variable", f"{_why(name)} Instead {instead}.")


def shell_remarks(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    """A sentence, without a full stop, for each of them in the shell; none when the plan has no MoRI-IO."""
    if not halves(plan.layout):
        return []
    return [
        f"{name} is set in the shell and has no effect: engines do not get it; instead {instead}"
        for name, instead in ignored_variables(environ).items()
    ]


def _instead(name: str) -> str:
    line = {**IGNORED, **SUPERSEDED}.get(name)
    what = f"`{line}`, or the value that is wanted," if line else "what is meant"
    return f"write {what} under {_TABLE} of a profile"


def _why(name: str) -> str:
    if name in SUPERSEDED:
        return "vLLM 0.32 reads it only where recv_abort_timeout is not given, and warns that it will go."
    return "vLLM 0.32 ignores it, with a warning." if name in IGNORED else "vLLM 0.32 reads no variable of this name."
