"""Does the next arm fit in memory? What is taken now in one bar, and under it what each engine would add to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from labkit.plots.frame import Caption, framed, sentence, unbroken
from labkit.plots.theme import GRID, MUTED, Mode, arm_color, part_color

_GIB = 1 << 30
_ROW_PX, _LEGEND_PX = 46, 40
_NOW = "taken now"


@dataclass(frozen=True, kw_only=True)
class Taken:
    """An engine that is up. `taken`: resident bytes, null when they could not be read."""

    name: str
    arm: str
    taken: int | None


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """An engine that could be started for these arms.

    `needs`: bytes; `there`: `up` or `starting`, empty when neither.
    """

    arms: tuple[str, ...]
    needs: int
    there: str = ""


@dataclass(frozen=True, kw_only=True)
class EngineMemoryInfo:
    """Bytes. `used`: all that is not free; `other`: of it, what no engine of the fleet takes."""

    caption: Caption
    total: int
    used: int
    other: int
    taken: tuple[Taken, ...]
    wanted: tuple[Wanted, ...]

    def fits(self, each: Wanted) -> bool:
        """Whether it could be started beside what runs now."""
        return bool(each.there) or self.used + each.needs <= self.total


def engine_memory_info(total: int, free: int, taken: Sequence[Taken], wanted: Sequence[Wanted]) -> EngineMemoryInfo:
    """`total`, `free`: bytes of the machine, or of its container. What engines share is counted for each, so `other`
    may be a little too small; it is never below 0.
    """
    used = max(0, total - free)
    other = max(0, used - sum(each.taken or 0 for each in taken))
    info = EngineMemoryInfo(
        caption=Caption(title="Which engine still fits in memory?", empty="The machine does not tell its memory."),
        total=total,
        used=used,
        other=other,
        taken=tuple(taken),
        wanted=tuple(wanted),
    )
    return info if total <= 0 else _captioned(info)


def engine_memory_figure(info: EngineMemoryInfo, mode: Mode = "light") -> go.Figure:
    """Bars on one scale: what an engine would add begins where the taken part ends; hatched where it does not fit."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    rows = 1 + len(info.wanted)
    figure = framed(info.caption, mode, height=rows * _ROW_PX + _LEGEND_PX, barmode="stack")
    _now(figure, info, mode)
    for each in info.wanted:
        _next(figure, info, each, mode)
    figure.add_vline(x=info.total / _GIB, line={"color": MUTED[mode], "dash": "dot", "width": 1.5})
    figure.update_xaxes(title="GiB", rangemode="tozero", showgrid=True)
    figure.update_yaxes(autorange="reversed", ticksuffix=" ", showgrid=False)
    return figure


def _now(figure: go.Figure, info: EngineMemoryInfo, mode: Mode) -> None:
    for each in info.taken:
        if each.taken:
            _bar(figure, _NOW, each.taken, name=f"{each.arm} ({each.name})", color=arm_color(each.arm, mode))
    other = min(info.other, info.used)
    _bar(figure, _NOW, other, name="everything else", color=part_color("other", mode))
    _bar(figure, _NOW, max(0, info.total - info.used), name="free", color=GRID[mode])


def _next(figure: go.Figure, info: EngineMemoryInfo, each: Wanted, mode: Mode) -> None:
    row, color = _label(info, each), arm_color(each.arms[0], mode)
    if each.there:
        _bar(figure, row, 0, name=row, color=color, legend=False)
        return
    pattern = "" if info.fits(each) else "/"
    _bar(figure, row, each.needs, name=row, color=color, legend=False, base=info.used, pattern=pattern)


def _bar(
    figure: go.Figure,
    row: str,
    size: int,
    *,
    name: str,
    color: str,
    legend: bool = True,
    base: int | None = None,
    pattern: str = "",
) -> None:
    figure.add_bar(
        y=[row],
        x=[size / _GIB],
        base=None if base is None else [base / _GIB],
        orientation="h",
        name=name,
        showlegend=legend,
        marker={"color": color, "pattern": {"shape": pattern}},
        hovertemplate=f"{name}: %{{x:.1f}} GiB<extra></extra>",
    )


def _label(info: EngineMemoryInfo, each: Wanted) -> str:
    """The arms in a line, and what is known of their engine in another."""
    state = (
        f"is {each.there}"
        if each.there
        else f"{_gib(each.needs)} fits"
        if info.fits(each)
        else f"{_gib(each.needs)} does not fit"
    )
    return f"{', '.join(each.arms)}<br>{unbroken(state)}"


def _captioned(info: EngineMemoryInfo) -> EngineMemoryInfo:
    free = max(0, info.total - info.used)
    engines = f"{len(info.taken)} engine{'s' * (len(info.taken) != 1)}"
    fits = [", ".join(each.arms) for each in info.wanted if not each.there and info.fits(each)]
    not_fit = [", ".join(each.arms) for each in info.wanted if not info.fits(each)]
    said = [f"fits: {'; '.join(fits)}" if fits else "", f"does not fit: {'; '.join(not_fit)}" if not_fit else ""]
    note = f"{_gib(free)} of {_gib(info.total)} free; {engines} in the fleet; dotted: all memory."
    alt = ". ".join([f"{_gib(free)} of {_gib(info.total)} are free", *filter(None, said)])
    return EngineMemoryInfo(
        caption=Caption(title="Which engine still fits in memory?", note=note, alt=alt),
        total=info.total,
        used=info.used,
        other=info.other,
        taken=info.taken,
        wanted=info.wanted,
    )


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
