"""Whether an attached engine serves the model of the profile that was named for it. Pure.

A profile lends its name, its block size and its commands to a run; of another model they would all be untrue.
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.core.errors import BadInput
from labkit.engines.profiles import Profile
from labkit.experiments.attached.placing import Placed


def require_same_model(profile: Profile, engines: Sequence[Placed]) -> None:
    """Raises BadInput for the first engine whose model has neither the profile's served name nor its path's."""
    model = profile.model
    source = model.path or model.weights or ""
    for each in engines:
        if _last(each.engine.model) not in {_last(model.served), _last(source)}:
            allowed = "a profile of the model that the endpoint serves"
            serves = f"{each.engine.url} serves {each.engine.model!r}, the profile {model.served!r} ({source})"
            raise BadInput("profile", profile.name, allowed, f"{serves}. Leave --profile out: nothing needs one here.")


def _last(name: str) -> str:
    """A hub id and a folder end in the same name."""
    return name.rstrip("/").rpartition("/")[2].lower()
