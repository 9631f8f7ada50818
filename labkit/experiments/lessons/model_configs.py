"""What the models of the shipped profiles keep of a token, from the product's own copies of their config.json."""

from __future__ import annotations

from labkit.engines.accepts.configs import model_configs
from labkit.engines.kv_bytes import KvShape, kv_shape
from labkit.engines.profiles import Profile


def shape_of(profile: Profile) -> KvShape | None:
    """What a token of the profile's model keeps, in the profile's cache dtype; None for a model that is not here."""
    return kv_shape(profile, model_configs().get(profile.model.weights or str(profile.model.path), {}))
