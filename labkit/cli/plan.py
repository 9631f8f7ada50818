"""`labkit plan`: what would be started, to read, to paste or as files; and what differs between two arms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from labkit.cli import plan_view
from labkit.core.arms import arm_named
from labkit.core.errors import LabError
from labkit.core.masking import masked, masked_words
from labkit.engines.deploy import FORMS, DeployFile, deploy_files, write_files
from labkit.engines.machine import usable_cores
from labkit.engines.plan import Plan, make_plan
from labkit.engines.plan_text import plan_text
from labkit.engines.profiles import Profile, load_profile

DEFAULT_PROFILE = "cpu-smollm2"

_EXAMPLES = (
    "Examples: [bold]labkit plan --arm prefix+spec --diff prefix[/bold]; "
    "[bold]labkit plan -p mi300x-8-qwen3-235b -a pd --as docker[/bold]; "
    "[bold]labkit plan -p mi300x-8-qwen3-235b+read -a pd --as k8s --out deploy[/bold]; "
    "[bold]labkit plan -p h200-1-qwen3-8b -a all --as ray-serve > serve.yaml[/bold]"
)

ProfileOption = Annotated[
    str,
    typer.Option("--profile", "-p", help="A shipped profile, NAME+VARIANT, NAME+flag=value, or the path of a .toml."),
]
ArmOption = Annotated[
    str,
    typer.Option("--arm", "-a", help="base, prefix, pd, spec, prefix+pd, prefix+spec, pd+spec or all."),
]
MethodOption = Annotated[
    str | None, typer.Option("--spec-method", help="Drafter; see --methods. Default: the profile's.")
]


def register(app: typer.Typer) -> None:
    """Add `plan` to the command line."""
    app.command(epilog=_EXAMPLES)(plan)


def plan(
    profile: ProfileOption = DEFAULT_PROFILE,
    arm: ArmOption = "prefix",
    spec_method: MethodOption = None,
    form: Annotated[str, typer.Option("--as", help=f"{', '.join(FORMS)}.")] = "shell",
    out: Annotated[Path | None, typer.Option(help="Folder to write to; default: print it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that --out finds there.")] = False,
    diff_arm: Annotated[str | None, typer.Option("--diff", help="Another arm: print only what differs.")] = None,
    salted: Annotated[bool, typer.Option(help="Quick mode: prefix caching is switched per request.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The plan as JSON; with --as, the files as JSON.")] = False,
    profiles: Annotated[bool, typer.Option("--profiles", help="List the profiles and their machines.")] = False,
    variants: Annotated[bool, typer.Option("--variants", help="List the profile's named variants.")] = False,
    methods: Annotated[bool, typer.Option("--methods", help="List the profile's drafters.")] = False,
) -> None:
    """Print the exact commands of an arm, or the files that deploy it, without starting anything.

    docker, compose and k8s need a profile with an image; ray-serve needs none.
    """
    if profiles:
        return plan_view.print_profiles()
    chosen = load_profile(profile)
    if methods or variants:
        return plan_view.print_methods(chosen) if methods else plan_view.print_variants(chosen)
    plan_view.warn_of_new_flags(profile)
    made = planned(chosen, arm, spec_method, salted)
    if diff_arm is not None:
        _require_no_files(form, out)
        return plan_view.print_diff(made, planned(chosen, diff_arm, spec_method, salted), as_json)
    if form == "shell" and out is None:
        return typer.echo(json.dumps(described(made), indent=1) if as_json else plan_text(made))
    return _deliver(deploy_files(chosen, made, form), out, force, as_json)


def planned(profile: Profile, arm: str, method: str | None, salted: bool = False) -> Plan:
    """The plan for this machine's cores."""
    return make_plan(profile, arm_named(arm), spec_method=method, salted=salted, cores=usable_cores())


def described(plan: Plan) -> dict[str, object]:
    """The plan as `--json` prints it, secrets masked."""
    processes = [
        {
            "role": process.role,
            "port": process.port,
            "env": {name: masked(name, value) for name, value in process.env.items()},
            "argv": masked_words(process.argv),
        }
        for process in plan.processes
    ]
    names = ("profile", "arm", "model", "method", "key", "salted")
    return {**{name: getattr(plan, name) for name in names}, "processes": processes}


def _require_no_files(form: str, out: Path | None) -> None:
    if form != "shell" or out is not None:
        raise LabError("--diff prints what differs and makes no files", "Leave out --as and --out, or --diff.")


def _deliver(files: tuple[DeployFile, ...], out: Path | None, force: bool, as_json: bool) -> None:
    """Written to `out` with their paths printed, else the texts themselves."""
    if out is not None:
        for path in write_files(out, files, force=force):
            typer.echo(path)
        return Console(stderr=True).print("Read the head of a file before you start it.", highlight=False)
    if as_json:
        return typer.echo(json.dumps([{"name": file.name, "text": file.text} for file in files], indent=1))
    return typer.echo("\n".join(file.text for file in files), nl=False)
