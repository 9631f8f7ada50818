"""A plan as text: the shell command of every process, to read or to paste. Secrets in it are masked."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from labkit.core.masking import masked, masked_words
from labkit.engines.plan_records import Plan, ProcessSpec


def plan_text(plan: Plan) -> str:
    """One shell command per process, under a line that says which plan this is."""
    parts = [f"# {plan.profile}, arm {plan.arm}, key {plan.key}: requests go to port {plan.entry.port}"]
    return "\n".join([*parts, *(f"\n# {process.role}\n{command_text(process)}" for process in plan.processes)])


def command_text(process: ProcessSpec) -> str:
    """The process as a shell command, its environment in front: a line per variable, then per option."""
    variables = [f"{name}={shlex.quote(masked(name, value))}" for name, value in process.env.items()]
    return " \\\n  ".join([*variables, *options_of(masked_words(process.argv))])


def options_of(argv: Sequence[str]) -> list[str]:
    """The command as a shell reads it, then each option with its values: an entry each, to be joined by line ends."""
    lines = [shlex.quote(argv[0])]
    for argument in argv[1:]:
        quoted = shlex.quote(argument)
        lines = [*lines, quoted] if argument.startswith("--") else [*lines[:-1], f"{lines[-1]} {quoted}"]
    return lines
