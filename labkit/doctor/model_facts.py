"""Facts of a profile's model: is it here, how large is it, and would the hub bring it if it is not."""

from __future__ import annotations

from collections.abc import Mapping

from labkit.core.errors import BadInput, WeightsError
from labkit.doctor import hub, machine
from labkit.doctor.facts import Weights
from labkit.doctor.hub import HubModel
from labkit.doctor.look import Look
from labkit.doctor.model_size import model_size
from labkit.engines import weights
from labkit.engines.profiles import Profile
from labkit.engines.weights.models import kind_of


def model_facts(
    profile: Profile, seen: Look, environ: Mapping[str, str], *, thorough: bool = False, chosen: bool = True
) -> Weights:
    """`environ`: what the engine would have, which says where the hub's cache is; `thorough`: compare every byte.

    `chosen`: somebody asked for this profile; of others the hub is asked only where their GPUs are.
    """
    name = profile.model.weights or str(profile.model.path)
    return weights_facts(name, profile, seen, environ, thorough=thorough, chosen=chosen)


def weights_facts(
    name: str, profile: Profile, seen: Look, environ: Mapping[str, str], *, thorough: bool = False, chosen: bool = True
) -> Weights:
    """Of any model that an engine of the profile loads, in the same way."""
    if kind_of(name) == "hub":
        return _of_hub(profile, name, seen, environ, chosen)
    try:
        folder, problem = weights.path(name, verify=thorough), ""
    except (WeightsError, BadInput) as error:
        folder, problem = None, error.message
    size = model_size(name, folder, profile.engine.flags)
    return Weights(name=name, problem=problem, checksums=thorough, size=size)


def _of_hub(profile: Profile, name: str, seen: Look, environ: Mapping[str, str], chosen: bool) -> Weights:
    cache = hub.cache_folder(environ)
    folder = hub.snapshot(name, cache)
    problem = "" if folder else f"{name} is not, or not wholly, in the hub's cache {cache}"
    found = HubModel(
        model=name,
        cache=str(cache),
        snapshot=str(folder) if folder else None,
        endpoint=hub.shown(hub.endpoint(environ)),
        offline=hub.offline(environ),
        free=machine.disk_free(cache),
    )
    fits = profile.machine.vendor == "cpu" or bool(seen.node.of(profile.machine.vendor))
    ask = not found.offline and (chosen or fits)
    size = model_size(name, folder, profile.engine.flags)
    return Weights(
        name=name, problem=problem, hub=_asked(found, hub.endpoint(environ), seen) if ask else found, size=size
    )


def _asked(found: HubModel, endpoint: str, seen: Look) -> HubModel:
    problem = seen.hub(endpoint)
    return HubModel(**{**vars(found), "reachable": not problem, "problem": problem})
