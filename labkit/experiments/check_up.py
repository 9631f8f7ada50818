"""The doctor's whole look at this machine, and at a recording's prompts where one is named."""

from __future__ import annotations

from dataclasses import replace

from labkit.core.errors import LabError
from labkit.doctor.examine import checks, examine
from labkit.doctor.facts import Facts
from labkit.doctor.look import Look, look
from labkit.doctor.prompt_prefix import prompt_checks
from labkit.doctor.reading import facts_of
from labkit.doctor.records import Check, Report, Runnable
from labkit.doctor.runnable import cannot_tell, runnable
from labkit.doctor.template import renderer
from labkit.engines import weights
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.sent_requests import requests_of


def check_up(profile: str, *, recording: str | None = None, thorough: bool = False) -> Report:
    """Every check of this machine under a profile, and what can be run here of every one that is shipped.

    `recording`: a name or path whose prompts are compared as well. `thorough`: read every byte of the weights. Raises
    UnknownName, BadInput.
    """
    chosen, further = load_profile(profile), prompts(profile, recording) if recording else ()
    seen = look()
    facts = facts_of(chosen, seen, thorough=thorough)
    report = examine(facts, further)
    of_chosen = runnable(chosen.name, checks(_as_of_the_others(facts, seen)))
    others = [name for name in list_profiles() if name != chosen.name]
    return replace(report, runnable=tuple(sorted([of_chosen, *(_other(name, seen) for name in others)], key=_by_name)))


def _as_of_the_others(facts: Facts, seen: Look) -> Facts:
    """The hub is asked for the model of a profile that somebody chose: its line says the same whichever that is."""
    return facts if facts.weights.hub is None else facts_of(facts.profile, seen, chosen=False)


def _by_name(each: Runnable) -> str:
    return each.profile


def _other(name: str, seen: Look) -> Runnable:
    """What can be run of another profile; one that makes no plan is said to, and hides none of the rest."""
    try:
        return runnable(name, checks(facts_of(load_profile(name), seen, chosen=False)))
    except LabError as error:
        return cannot_tell(name, error.message)


def prompts(profile: str, recording: str) -> list[Check]:
    """The checks of a recording's prompts, under the template of the profile's model."""
    return prompt_checks(recording, requests_of(recording), renderer(load_profile(profile)))


def bytes_to_compare(profile: str) -> int | None:
    """What a thorough look would read of the profile's weights, bytes; None where nobody knows their checksums.

    Raises UnknownName.
    """
    sizes = {model.name: model.disk_mb * 1_000_000 for model in weights.list_models()}
    return sizes.get(load_profile(profile).model.weights or "")
