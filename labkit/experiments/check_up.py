"""The doctor's whole look at this machine, and at a recording's prompts where one is named."""

from __future__ import annotations

from labkit.doctor.examine import examine
from labkit.doctor.prompt_prefix import prompt_checks
from labkit.doctor.reading import facts
from labkit.doctor.records import Check, Report
from labkit.doctor.template import renderer
from labkit.engines import weights
from labkit.engines.profiles import load_profile
from labkit.experiments.sent_requests import requests_of


def check_up(profile: str, *, recording: str | None = None, thorough: bool = False) -> Report:
    """Every check of this machine under a profile. `recording`: a name or path whose prompts are compared as well.

    `thorough`: read every byte of the weights. Raises UnknownName, BadInput.
    """
    return examine(facts(profile, thorough=thorough), prompts(profile, recording) if recording else ())


def prompts(profile: str, recording: str) -> list[Check]:
    """The checks of a recording's prompts, under the template of the profile's model."""
    return prompt_checks(recording, requests_of(recording), renderer(load_profile(profile)))


def bytes_to_compare(profile: str) -> int | None:
    """What a thorough look would read of the profile's weights, bytes; None where nobody knows their checksums.

    Raises UnknownName.
    """
    sizes = {model.name: model.disk_mb * 1_000_000 for model in weights.list_models()}
    return sizes.get(load_profile(profile).model.weights or "")
