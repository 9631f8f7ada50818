"""Reading profiles: TOML in, checked Profile out; errors name the field as it stands in the file."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from labkit.core.errors import BadInput, LabError
from labkit.core.names import unknown
from labkit.engines.profiles.schema import Profile
from labkit.engines.profiles.variants import named_variant, split_name, varied
from labkit.engines.profiles.wrong import wrong

_SHIPPED = Path(__file__).parent


def list_profiles() -> list[str]:
    """Names of the shipped profiles, sorted."""
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def load_profile(name_or_path: str) -> Profile:
    """A shipped profile by name, or one's own by the path of its TOML file, or a variant: `+flag=value`, `+NAME`.

    Raises UnknownName, BadInput, or LabError for a path where no file is.
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
            profile = _named(profile, name)
        return varied(profile, flags) if flags else profile
    if path.suffix == ".toml" or "/" in name_or_path:
        raise LabError(
            f"no such file: {path}", "A profile is the path of a .toml file, or a name: labkit plan --profiles"
        )
    raise unknown("profile", name_or_path, list_profiles(), "labkit plan --profiles (or give the path of a .toml file)")


def _named(profile: Profile, name: str) -> Profile:
    try:
        return named_variant(profile, name)
    except ValidationError as error:
        raise wrong(f"{profile.name}: variants.{name}", error) from error


def _read(path: Path) -> Profile:
    try:
        return Profile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(str(path), str(error), "a TOML file", "Compare it with a shipped profile.") from error
    except ValidationError as error:
        raise wrong(path.name, error) from error
