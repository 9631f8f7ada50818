"""The split's section in words: its sentence and the numbers beside it."""

from __future__ import annotations

from labkit.analysis.format import DASH, count, percent, seconds
from labkit.experiments.dashboard.layers.gain import TwinGain, speed_words
from labkit.experiments.dashboard.layers.load import Loaded
from labkit.experiments.dashboard.layers.transfers import Moved
from labkit.experiments.dashboard.layers.words import Fact
from labkit.experiments.report.english import capital, counted


def finding(arm: str, first: TwinGain, gaps: TwinGain, found: Moved, loaded: Loaded | None) -> str:
    """What the split did, in one sentence."""
    moved = _moved(found)
    if loaded and loaded.words:
        return capital("; ".join([loaded.words, *moved])) + "."
    said = _paired_words(first, gaps) + moved
    if not said:
        return f"Under {arm} the engine told neither times to compare nor what it moved, so nothing can be said."
    return f"Under {arm}, {'; '.join(said)}."


def _moved(found: Moved) -> list[str]:
    if not found.transfers:
        return []
    size, took = megabytes(found.bytes_each), seconds(found.s_each)
    return [f"{counted(found.transfers, 'transfer')} moved {size} each in {took} (means){_failed(found)}"]


def _paired_words(first: TwinGain, gaps: TwinGain) -> list[str]:
    said = []
    if first.gain is not None:
        words = speed_words(first.gain, first.twin, "the first token took", "the first token came")
        said.append(f"{words} ({first.head})")
    if gaps.gain is not None:
        words = speed_words(gaps.gain, gaps.twin, "a stream's longest gaps took", "a stream's longest gaps passed")
        said.append(f"{words} ({gaps.head})")
    return said


def _failed(found: Moved) -> str:
    if found.transfer_failures is None:
        return ""
    return f", and {found.transfer_failures or 'none'} failed"


def facts(first: TwinGain, gaps: TwinGain, found: Moved, loaded: Loaded | None) -> tuple[Fact, ...]:
    """The numbers beside the sentence."""
    return (*(_gains(first, gaps) if loaded is None else loaded.facts), *_transfers(found))


def _gains(first: TwinGain, gaps: TwinGain) -> tuple[Fact, ...]:
    about = f"Gain over {gaps.twin} in the 99th percentile of a step's gaps between chunks"
    return (
        Fact(
            label="First-token gain",
            value=first.value,
            note=first.head,
            help=f"Gain over {first.twin}: {first.words}.",
        ),
        Fact(label="Longest-gap gain", value=gaps.value, note=gaps.head, help=f"{about}: {gaps.words}."),
    )


def _transfers(found: Moved) -> tuple[Fact, ...]:
    each = None
    if found.transfers and found.transfer_failures is not None:
        each = f"{percent(found.transfer_failures / found.transfers)} of them"
    return (
        Fact(
            label="KV per transfer",
            value=megabytes(found.bytes_each),
            note="not counted" if found.transfers is None else counted(found.transfers, "transfer"),
            help="Mean over transfers, by the connector's own counter of bytes: whole blocks.",
        ),
        Fact(
            label="Time per transfer",
            value=seconds(found.s_each),
            note="not counted" if found.bytes_per_s is None else f"{megabytes(found.bytes_per_s)}/s",
            help="Mean over transfers, by the connector's own clock, and bytes over seconds of all of them.",
        ),
        Fact(
            label="Transfers failed",
            value=count(found.transfer_failures),
            note=each or "not counted",
            help="As the connector counts them; a dash where it counts none.",
        ),
    )


def megabytes(value: float | None) -> str:
    """`38.4 MB`, `1,633 MB`; a dash when not measured."""
    if value is None:
        return DASH
    mb = value / 1e6
    return f"{mb:,.0f} MB" if mb >= 99.95 else f"{mb:.3g} MB"
