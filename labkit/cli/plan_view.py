"""What `labkit plan` lists: profiles, variants, drafters, and the difference of two arms."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from labkit.engines.plan import Plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import Profile, list_profiles, load_profile
from labkit.engines.profiles.schema import Machine
from labkit.engines.profiles.variants import split_name


def print_profiles() -> None:
    """The shipped profiles and the machine that each is for; a name is never cut."""
    table = Table(Column("profile", no_wrap=True), "machine", Column("what it is", overflow="fold"))
    for name in list_profiles():
        profile = load_profile(name)
        table.add_row(name, _machine(profile.machine), profile.title)
    Console().print(table)


def _machine(machine: Machine) -> str:
    return f"{machine.vendor}: {machine.gpus} x {machine.gpu}" if machine.gpus else machine.vendor


def print_variants(profile: Profile) -> None:
    """The profile's named variants, under the names that `--profile` takes."""
    if not profile.variants:
        return typer.echo(f"{profile.name} declares no variants; NAME+flag=value sets a flag in every arm")
    table = Table("profile", "what it asks")
    for name, variant in profile.variants.items():
        table.add_row(f"{profile.name}+{name}", variant.about)
    return Console().print(table)


def warn_of_new_flags(asked: str) -> None:
    """On stderr: flags that a variant, as it was `asked` for, adds to the profile; of a misspelt one its engine tells.

    New ones are allowed, since a profile lists only what it sets.
    """
    if Path(asked).expanduser().is_file():
        return
    base, named, flags = split_name(asked)
    known = load_profile("+".join([base, *named])).engine.flags if flags else {}
    for flag in flags.keys() - known.keys():
        near = get_close_matches(flag, known, n=1, cutoff=0.7)
        meant = f"; did you mean {near[0]}?" if near else ""
        typer.echo(f"{flag} is not in the profile: passed on as it is{meant}", err=True)


def print_methods(profile: Profile) -> None:
    """The profile's drafters, what each does, and its settings one a line, so that a model's name can be copied."""
    console, speculation = Console(), profile.layers.speculation
    for name, method in speculation.methods.items():
        default = " (default)" if name == speculation.default else ""
        console.print(Text.assemble((name, "bold"), f"{default}: {method.about}"))
        for setting, value in method.config.items():
            said = value if isinstance(value, str) else json.dumps(value)
            console.print(f"  {setting} {said}", highlight=False, markup=False, soft_wrap=True)


def print_diff(left: Plan, right: Plan, as_json: bool) -> None:
    """The settings in which two plans differ, as text or as JSON."""
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
