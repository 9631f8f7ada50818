"""What is wrong with a profile, in words of the file: the field, what is there, what may be.

    try: Profile.model_validate(data)
    except ValidationError as error: raise wrong("mine.toml", error) from error

A key that nothing has is told first: where a table is misspelt, the fields that are missing follow from that.
"""

from __future__ import annotations

import difflib
import re
from typing import Any, Self, get_args

from pydantic import BaseModel, ValidationError

from labkit.core.errors import BadInput
from labkit.engines.profiles.schema import Profile

_PREFIX = re.compile("^(Value error, |Input should be )")


class WrongProfile(BadInput):
    """A profile that is not as it must be. Unlike any BadInput its sentence may say that a field is missing."""

    @classmethod
    def saying(cls, field: str, value: object, said: str, hint: str = "") -> Self:
        """`said`: what follows the field's name."""
        error = cls(field, value, "", hint)
        error.message = f"{field}{said}"
        return error


def wrong(file: str, error: ValidationError) -> BadInput:
    """The first fault of `file` as an error of ours."""
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    where = first["loc"]
    field = f"{file}: {'.'.join(str(part) for part in where) or 'profile'}"
    if first["type"] == "extra_forbidden":
        return _unknown_key(field, where)
    if first["type"] == "missing":
        return WrongProfile.saying(field, None, " is missing", "Compare the file with a shipped profile.")
    said, value = _PREFIX.sub("", first["msg"]), first.get("input")
    if isinstance(value, dict | list):
        return WrongProfile.saying(field, value, f": {said}")
    return BadInput(field, value, said)


def _unknown_key(field: str, where: tuple[Any, ...]) -> BadInput:
    known = sorted(_keys(where[:-1]))
    near = difflib.get_close_matches(str(where[-1]), known, n=1, cutoff=0.4)
    instead = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
    return WrongProfile.saying(field, where[-1], f": no such key; {instead}")


def _keys(where: tuple[Any, ...]) -> set[str]:
    """The keys of the table at this place of a profile."""
    kind: Any = Profile
    for part in where:
        fields = getattr(kind, "model_fields", None)
        kind = fields[str(part)].annotation if fields else _values_of(kind)
    return set(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else set()


def _values_of(kind: Any) -> Any:
    """Of `dict[str, X]` the X: its keys are names that the profile chooses."""
    return get_args(kind)[-1] if get_args(kind) else None
