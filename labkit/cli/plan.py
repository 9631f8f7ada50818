"""`labkit plan`: what would be started, to read or to paste into a shell; and what differs between two arms."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from labkit.core.arms import arm_named
from labkit.core.masking import masked, masked_words
from labkit.engines.machine import usable_cores
from labkit.engines.plan import Plan, make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.plan_text import plan_text
from labkit.engines.profiles import Profile, list_profiles, load_profile

DEFAULT_PROFILE = "cpu-smollm2"

ProfileOption = Annotated[
    str, typer.Option("--profile", "-p", help="Name of a shipped profile, or the path of a .toml.")
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
    app.command()(plan)


def plan(
    profile: ProfileOption = DEFAULT_PROFILE,
    arm: ArmOption = "prefix",
    spec_method: MethodOption = None,
    diff_arm: Annotated[str | None, typer.Option("--diff", help="Another arm: print only what differs.")] = None,
    salted: Annotated[bool, typer.Option(help="Quick mode: prefix caching is switched per request.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The plan as JSON.")] = False,
    profiles: Annotated[bool, typer.Option("--profiles", help="List the profiles.")] = False,
    methods: Annotated[bool, typer.Option("--methods", help="List the profile's drafters.")] = False,
) -> None:
    """Print the exact commands of an arm, without starting anything.

    Example: [bold]labkit plan --arm prefix+spec --diff prefix[/bold]
    """
    if profiles:
        return _list_profiles()
    chosen = load_profile(profile)
    if methods:
        return _list_methods(chosen)
    made = planned(chosen, arm, spec_method, salted)
    if diff_arm is not None:
        return _print_diff(made, planned(chosen, diff_arm, spec_method, salted), as_json)
    return typer.echo(json.dumps(_described(made), indent=1) if as_json else plan_text(made))


def planned(profile: Profile, arm: str, method: str | None, salted: bool = False) -> Plan:
    """The plan for this machine's cores."""
    return make_plan(profile, arm_named(arm), spec_method=method, salted=salted, cores=usable_cores())


def _described(plan: Plan) -> dict[str, object]:
    processes = [
        {
            "role": process.role,
            "port": process.port,
            "env": {name: masked(name, value) for name, value in process.env.items()},
            "argv": masked_words(process.argv),
        }
        for process in plan.processes
    ]
    return {
        "profile": plan.profile,
        "arm": plan.arm,
        "model": plan.model,
        "method": plan.method,
        "key": plan.key,
        "salted": plan.salted,
        "processes": processes,
    }


def _print_diff(left: Plan, right: Plan, as_json: bool) -> None:
    differences = diff(left, right)
    if as_json:
        return typer.echo(json.dumps([difference._asdict() for difference in differences], indent=1))
    if not differences:
        return typer.echo(f"{left.arm} and {right.arm} are the same engine")
    typer.echo(f"{left.profile}: what differs between {left.arm} and {right.arm}")
    width = max(len(left.arm), len(right.arm))
    for difference in differences:
        typer.echo(f"\n{difference.role}  {difference.setting}")
        for arm, value in ((left.arm, difference.left), (right.arm, difference.right)):
            typer.echo(f"  {arm:<{width}}  {'-' if value is None else value}")
    return None


def _list_profiles() -> None:
    table = Table("profile", "what it is")
    for name in list_profiles():
        table.add_row(name, load_profile(name).title)
    Console().print(table)


def _list_methods(profile: Profile) -> None:
    table = Table("method", "what it does", "settings")
    speculation = profile.layers.speculation
    for name, method in speculation.methods.items():
        default = " (default)" if name == speculation.default else ""
        table.add_row(f"{name}{default}", method.about, json.dumps(method.config))
    Console().print(table)
