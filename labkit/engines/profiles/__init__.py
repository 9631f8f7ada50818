"""Profiles: a machine, a model and the engine choices that stay the same in every arm.

A profile is a TOML file. Those beside this module are shipped; any other is named by its path. Either can be varied by
engine flags in its name (see `variants`).

    from labkit.engines.profiles import list_profiles, load_profile
    profile = load_profile("cpu-smollm2")
    load_profile("cpu-smollm2+block-size=128")
"""

from labkit.engines.profiles.reading import list_profiles, load_profile
from labkit.engines.profiles.schema import Profile, SpecMethod
from labkit.engines.profiles.variants import variant

__all__ = ["Profile", "SpecMethod", "list_profiles", "load_profile", "variant"]
