"""What a section of a report is made of. Plain data: the template alone knows HTML, and escapes every text of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from labkit.plots.frame import Caption
from labkit.plots.html import figure_json
from labkit.plots.theme import Mode

Info = TypeVar("Info")
Cells = tuple[str, ...]


@dataclass(frozen=True)
class Heading:
    """The title of a part of a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Words:
    """A paragraph. `tone`: `warn` for what a reader must not miss."""

    kind: ClassVar[str] = "words"
    text: str
    tone: Literal["plain", "warn"] = "plain"


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    kind: ClassVar[str] = "points"
    items: Cells


@dataclass(frozen=True)
class Pairs:
    """Facts by name: (name, fact)."""

    kind: ClassVar[str] = "pairs"
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Grid:
    """A table. `words`: positions of the columns that hold words; the others hold numbers, right-aligned."""

    kind: ClassVar[str] = "grid"
    head: Cells
    rows: tuple[Cells, ...]
    caption: str = ""
    note: str = ""
    words: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Drawing:
    """A figure in both modes, as plotly JSON. `words`: what it shows, for whoever cannot see it."""

    kind: ClassVar[str] = "drawing"
    light: str
    dark: str
    words: str
    height: int


@dataclass(frozen=True)
class Beside:
    """Figures side by side where there is room."""

    kind: ClassVar[str] = "beside"
    blocks: tuple[Drawing, ...]


@dataclass(frozen=True)
class Code:
    """Text as it is typed or as a program said it."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class More:
    """Blocks that are folded away on the screen."""

    kind: ClassVar[str] = "more"
    title: str
    blocks: tuple[Any, ...]


Block = Heading | Words | Points | Pairs | Grid | Drawing | Beside | Code | More


@dataclass(frozen=True)
class Section:
    """A heading and what is under it. `key`: its anchor in the page."""

    key: str
    title: str
    blocks: tuple[Block, ...]


def drawing(info: Info, draw: Callable[[Info, Mode], Any], words: str) -> Drawing:
    """A figure of labkit.plots: its info record, the function that draws it, and the finding in words."""
    light, dark = draw(info, "light"), draw(info, "dark")
    return Drawing(figure_json(light), figure_json(dark), words, int(light.layout.height or 360))


def drawn(info: Info, draw: Callable[[Info, Mode], Any]) -> tuple[Drawing, ...]:
    """The figure, unless its info record says that there is nothing to draw."""
    caption: Caption = info.caption  # type: ignore[attr-defined]
    return () if caption.empty else (drawing(info, draw, caption.alt),)


def beside(infos: Sequence[Info], draw: Callable[[Info, Mode], Any]) -> tuple[Block, ...]:
    """Those figures that there are, side by side; one alone takes the whole width."""
    figures = tuple(figure for info in infos for figure in drawn(info, draw))
    return (Beside(figures),) if len(figures) > 1 else figures


def either(blocks: Sequence[Block | None], otherwise: str) -> tuple[Block, ...]:
    """The blocks that there are; without any, a sentence that says why."""
    kept = tuple(block for block in blocks if block is not None)
    return kept or (Words(otherwise),)
