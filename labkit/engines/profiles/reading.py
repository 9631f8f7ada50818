"""Reading profiles: TOML in, checked Profile out; errors name the field as it stands in the file."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from labkit.core.errors import BadInput
from labkit.core.names import unknown
from labkit.engines.profiles.schema import Profile
from labkit.engines.profiles.variants import named_variant, split_name, varied

_SHIPPED = Path(__file__).parent


def list_profiles() -> list[str]:
    """Names of the shipped profiles, sorted."""
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def load_profile(name_or_path: str) -> Profile:
    """A shipped profile by name, or one's own by the path of its TOML file, or a variant: `+flag=value`, `+NAME`.

    Raises UnknownName or BadInput.
    """
    if name_or_path in list_profiles():
        return _read(_SHIPPED / f"{name_or_path}.toml")
    path = Path(name_or_path).expanduser()
    if path.suffix == ".toml" and path.is_file():
        return _read(path)
    base, named, flags = split_name(name_or_path)
    if named or flags:
        profile = load_profile(base)
        for name in named:
            profile = named_variant(profile, name)
        return varied(profile, flags) if flags else profile
    raise unknown("profile", name_or_path, list_profiles(), "labkit plan --profiles (or give the path of a .toml file)")


def _read(path: Path) -> Profile:
    try:
        return Profile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(str(path), str(error), "a TOML file", "Compare it with a shipped profile.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "profile"
        raise BadInput(f"{path.name}: {field}", first.get("input"), first["msg"]) from error
