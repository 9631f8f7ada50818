"""Which arms cannot be had, as far as the newest run knows: what a toggle may call "refused".

A refusal speaks of an engine, so it holds for every arm that this engine would serve, and for no other engine: an older
profile's refusal, or that of a run with other options, says nothing about the arm of now.
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.core.arms import arm_named
from labkit.core.records import RunInfo
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.experiments.attached.kept import attached_engines
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.view import LIVE, RunView


def newest_of(profile: str, infos: Sequence[RunInfo]) -> str | None:
    """Id of the newest run under the profile that measured arms; `infos` are newest first."""
    mine = (info for info in infos if info.asked.get("profile") == profile and info.asked.get("arms"))
    return next((info.id for info in mine if not attached_engines(info.fingerprint)), None)


def refused_arms(fleet: Fleet, profile: str, arms: Sequence[str], newest: RunView | None) -> dict[str, str]:
    """Those of `arms` whose very engine the run was refused, with the engine's words. Raises UnknownName.

    A live run may have been steered to an engine that its fingerprint, made before, does not know. Arms that share an
    engine by salt get the same words. An engine that died is not one that was refused.
    """
    if newest is None or not newest.refused:
        return {}
    known = newest.info.fingerprint.get("engines", {})
    asked, model = newest.info.asked, load_profile(profile)
    of_run = FleetProvider(fleet, model, spec_method=asked.get("spec_method"), strict=bool(asked.get("strict")))
    keys = {of_run.plan(arm_named(arm)).key: words for arm, words in newest.refused.items()}
    now = FleetProvider(fleet, model)
    same = {arm: now.plan(arm_named(arm)).key for arm in arms}
    steered = newest.info.experiment == LIVE
    return {arm: keys[key] for arm, key in same.items() if key in keys and (steered or key in known)}
