"""The live view's tiles: what the newest arm does, each number beside that of the arm before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from labkit.analysis.arms import MIN_PAIRS
from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.format import DASH, percent, plain, seconds
from labkit.analysis.tables import is_finished
from labkit.core.arms import ARMS
from labkit.experiments.dashboard.live.tile_numbers import Numbers, numbers_of
from labkit.experiments.dashboard.live.two_arms import LAST, Side, TwoArms, two_arms
from labkit.experiments.dashboard.opened import Opened

Better = Literal["more", "less", "neither"]
_SPECULATES = frozenset(arm.label for arm in ARMS if arm.speculation)
SAME = 0.05
"""A change by a smaller share than this is called about the same."""


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One number. `delta`: the change since the arm before, with its sign, empty where there is nothing to compare.

    `verdict`: `better`, `worse`, `same`, or empty where nothing is told, as from few steps or from other requests;
    `than`: the arm before and its number; `help`: what it is, or why it is a dash.
    """

    label: str
    value: str
    help: str
    delta: str = ""
    verdict: str = ""
    than: str = ""


@dataclass(frozen=True, kw_only=True)
class Tiles:
    """All tiles, of which arm against which, and over which steps in words."""

    arm: str = ""
    before: str = ""
    over: str = ""
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True)
class _Kind:
    """What a tile shows. `why`: why it may be a dash; `by_chunk`: it counts chunks, whatever tokens they carry."""

    label: Callable[[Numbers], str]
    value: Callable[[Numbers], float | None]
    say: Callable[[float | None], str]
    better: Better
    help: str
    why: Callable[[Numbers], str]
    by_chunk: bool = False


def tiles(opened: Opened, beside: Opened | None = None, last: int = LAST) -> Tiles:
    """Tiles of the newest arm with steps, over its last steps. `beside`: a run that this one repeats."""
    sides = two_arms(opened, beside, last)
    if sides is None:
        return Tiles()
    now, before = numbers_of(sides.now), numbers_of(sides.before) if sides.before else None
    made = tuple(_tile(kind, now, before, _tells(sides)) for kind in _KINDS)
    return Tiles(arm=now.arm, before=before.arm if before else "", over=_over(sides), tiles=made)


def _tells(sides: TwoArms) -> bool:
    """Whether a change is told as better or worse: the same requests, and enough of them."""
    return sides.paired and sides.before is not None and min(map(_finished, (sides.now, sides.before))) >= MIN_PAIRS


def _finished(side: Side) -> int:
    return int(is_finished(side.steps).sum())


def _over(sides: TwoArms) -> str:
    """Which steps the tiles are over."""
    mine, other = len(sides.now.steps), sides.before
    if other is None:
        return f"{sides.now.arm} over its last {_n(mine)}"
    if sides.paired:
        return f"{sides.now.arm} and {other.arm} on the same {_n(mine)}{'' if _tells(sides) else f', {TOO_FEW}'}"
    return (
        f"{sides.now.arm} over its last {_n(mine)}, {other.arm} over its last {_n(len(other.steps))}: "
        "other requests, so the change is a hint"
    )


def _n(count: int) -> str:
    return "step" if count == 1 else f"{count} steps"


def _tile(kind: _Kind, now: Numbers, before: Numbers | None, tells: bool) -> Tile:
    value, old = kind.value(now), kind.value(before) if before else None
    help_ = kind.help if value is not None else f"{kind.help} A dash: {kind.why(now)}"
    label = kind.label(now)
    if value is None or old is None or before is None:
        return Tile(label=label, value=kind.say(value), help=help_, than=_alone(kind, before, old))
    return Tile(
        label=label,
        value=kind.say(value),
        help=help_,
        delta=_signed(value - old, _points if kind.say is percent else kind.say),
        verdict=_verdict(_better(kind, now, before), value, old) if tells else "",
        than=f"{before.arm} {kind.say(old)}",
    )


def _alone(kind: _Kind, before: Numbers | None, old: float | None) -> str:
    return f"{before.arm} {kind.say(old)}" if before is not None and old is not None else ""


def _signed(change: float, say: Callable[[float | None], str]) -> str:
    """Empty where nothing is left of it when it is rounded."""
    said = say(abs(change))
    return f"{'-' if change < 0 else '+'}{said}" if set(said) & set("123456789") else ""


def _points(share: float | None) -> str:
    """The change of a share: from 20 % to 30 % are 10 points, not 10 %."""
    return f"{plain(100 * (share or 0.0))} points"


def _better(kind: _Kind, now: Numbers, before: Numbers) -> Better:
    """With speculation a chunk carries several tokens, so longer gaps of chunks are no loss, nor shorter a gain."""
    differs = (now.arm in _SPECULATES) != (before.arm in _SPECULATES)
    return "neither" if kind.by_chunk and differs else kind.better


def _verdict(better: Better, value: float, old: float) -> str:
    if abs(value - old) <= SAME * abs(old):
        return "same"
    if better == "neither":
        return "more" if value > old else "less"
    return "better" if (value > old) == (better == "more") else "worse"


def _hits(of: Numbers) -> str:
    return "Cache hit rate" + (f" (ceiling {percent(of.hit_ceiling)})" if of.hit_ceiling is not None else "")


def _round(of: Numbers) -> str:
    return "Tokens a round" + (f" ({percent(of.acceptance)} accepted)" if of.acceptance is not None else "")


def _no_draft(of: Numbers) -> str:
    return "the engine told no drafts." if of.arm in _SPECULATES else f"{of.arm} does not speculate."


def _tokens(value: float | None) -> str:
    return DASH if value is None else plain(value)


_KINDS = (
    _Kind(
        lambda of: "First token (TTFT p50)", lambda of: of.ttft_s, seconds, "less",
        "Median time from the send to the first token, at the client.",
        lambda of: "no first token yet.",
    ),
    _Kind(
        lambda of: "Whole step (p50)", lambda of: of.e2e_s, seconds, "less",
        "Median time from the send to the end of the reply, without tools.",
        lambda of: "no step has ended yet.",
    ),
    _Kind(
        _hits, lambda of: of.hit_rate, percent, "more",
        "Prompt tokens from the prefix cache over all prompt tokens. The ceiling is what an infinite cache of whole "
        "blocks could have served.",
        lambda of: "the engine reported no cached tokens.",
    ),
    _Kind(
        _round, lambda of: of.acceptance_length, _tokens, "more",
        "Tokens that one verification round of speculation yields: 1 and the accepted drafts.",
        _no_draft,
    ),
    _Kind(
        lambda of: "Tokens a second", lambda of: of.tokens_per_s, _tokens, "more",
        "Generated tokens of all agents over the time in which at least one request was under way.",
        lambda of: "no step told its tokens.",
    ),
    _Kind(
        lambda of: "Gap between chunks (ITL p99)", lambda of: of.itl_p99_s, seconds, "less",
        "99th percentile of the gap between two chunks of a stream. Under speculation a chunk carries several tokens.",
        lambda of: "it needs a stream of two chunks.",
        by_chunk=True,
    ),
    _Kind(
        lambda of: "KV cache in use (peak)", lambda of: of.kv_use, percent, "neither",
        "The fullest that the engine's KV cache was while these steps ran, read once a second; with a split, of the "
        "fuller process.",
        lambda of: "the engine's /metrics told no use while these steps ran, or another arm used it meanwhile.",
    ),
    _Kind(
        lambda of: of.machine_label, lambda of: of.machine, lambda value: _machine(value), "neither",
        "Mean while these steps ran: power of all GPUs where the machine tells it, else how busy its CPUs were.",
        lambda of: "no sample of the machine falls into these steps.",
    ),
)  # fmt: skip


def _machine(value: float | None) -> str:
    return DASH if value is None else plain(value)
