"""The file that prices are read from: its fields, and what is wrong with one in words of the file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from labkit.core.errors import BadInput

HINT = "Compare it with data/prices.toml, where every field has its meaning."
_ALLOWED = {
    "about": "a text: what machine, and how it is paid for",
    "kind": "'rent' or 'own'",
    "gpus": "a whole number, 0 or more",
    "profiles": "a list of names of profiles, in brackets",
    "figures": "a table [NAME.figures] with a line for each figure",
    "value": "a number",
    "source": "an address that starts with https://, in quotes",
    "assumption": "a text: the reason",
    "date": "YYYY-MM or YYYY-MM-DD, in quotes",
    "note": "a text",
}
"""What a field of the file may be, by its name."""


class FigureFields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float
    source: str = Field(default="", pattern=r"^(https?://\S+)?$")
    assumption: str = ""
    date: str = Field(pattern=r"^\d{4}-\d{2}(-\d{2})?$")
    note: str = ""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if bool(self.source) == bool(self.assumption):
            raise ValueError("give either `source` (an address) or `assumption` (the reason)")
        return self


class PriceFields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    kind: Literal["rent", "own"]
    gpus: Annotated[int, Field(ge=0)]
    profiles: tuple[str, ...] = ()
    figures: dict[str, FigureFields]


def read_prices(path: Path) -> dict[str, PriceFields]:
    """The prices of the file by name, each with fields of the right kind. Raises BadInput."""
    return {name: _fields(path, name, table) for name, table in _tables(path).items()}


def _fields(path: Path, name: str, table: object) -> PriceFields:
    try:
        return PriceFields.model_validate(table)
    except ValidationError as error:
        raise _wrong(path, name, error.errors()[0]) from error


def _tables(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput("prices", str(path), "a file that can be read", HINT) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(str(path), str(error), "a TOML file", HINT) from error
    if not tables:
        raise BadInput(str(path), "no price", "at least one table such as [my-node]", HINT)
    return tables


def _wrong(path: Path, name: str, error: ErrorDetails) -> BadInput:
    """What pydantic found, in words of this file."""
    where = [name, *map(str, error["loc"])]
    value: object = error["input"]
    if error["type"] == "missing":
        value = None
    allowed = _ALLOWED.get(where[-1], "a table such as [my-node]")
    if error["type"] == "value_error":
        value, allowed = "both or neither", str(error["ctx"]["error"])
    elif error["type"] == "extra_forbidden":
        fields = FigureFields.model_fields if len(where) > 2 else PriceFields.model_fields
        allowed = f"only {', '.join(fields)}"
    return BadInput(f"{path.name}: {'.'.join(where)}", value, allowed, HINT)
