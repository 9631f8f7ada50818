"""What prefix caching did in a run: how much of what was possible, what it saved, and what stood in its way."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from labkit.analysis.cache import CacheUse, cache_use
from labkit.analysis.format import DASH, count, percent, seconds
from labkit.analysis.ratios import MIN_STEPS
from labkit.analysis.tables import is_finished, numbers
from labkit.experiments.dashboard.layers.gain import TwinGain, twin_gain
from labkit.experiments.dashboard.layers.losses import Losses, losses
from labkit.experiments.dashboard.layers.rows import (
    WITHOUT,
    chosen,
    command_for,
    matched,
    notes_on,
    twin_of,
    why_unpaired,
)
from labkit.experiments.dashboard.layers.words import Fact, Unpaired
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import counted
from labkit.plots.cache_gap import CacheGapInfo, cache_gap_info
from labkit.plots.hit_rates import HitRatesInfo, hit_rates_info
from labkit.plots.tokens_per_turn import TokensPerTurnInfo, tokens_per_turn_info
from labkit.plots.twin_lines import TwinLinesInfo, twin_lines_info

_AS_GOOD = 0.995
"""From this share of the ceiling on, a hit rate is called as good as it could be."""
_NO_CHUNKS = pd.DataFrame()


@dataclass(frozen=True, kw_only=True)
class Saved:
    """Seconds of prefill over the requests that arm and twin both finished and told; None where no pair told."""

    twin: str
    n: int = 0
    with_s: float | None = None
    without_s: float | None = None

    @property
    def saved_s(self) -> float | None:
        return None if self.with_s is None or self.without_s is None else self.without_s - self.with_s


@dataclass(frozen=True, kw_only=True)
class PrefixSection:
    """The section, from top to bottom. `unpaired`: why nothing was saved that could be told; None where it can."""

    finding: str
    facts: tuple[Fact, ...]
    tokens: TokensPerTurnInfo
    gap: CacheGapInfo
    rates: HitRatesInfo
    saved: TwinLinesInfo
    losses: Losses
    unpaired: Unpaired | None
    notes: tuple[str, ...]


def prefix_section(opened: Opened, arm: str, cache: str, condition: str | None) -> PrefixSection:
    """Of one arm with prefix caching, in one cache state and condition (None: all)."""
    steps, twin = chosen(opened, cache, condition), twin_of(arm, "prefix_caching")
    why = why_unpaired(opened, steps, arm, twin)
    pairs = _prefills(matched(steps, arm, twin, ("prefill_s",))) if not why else pd.DataFrame()
    mine = steps[steps["arm"] == arm]
    use, saved = cache_use(mine[is_finished(mine)]), saved_of(pairs, twin)
    gain = TwinGain(metric="ttft_s", arm=arm, twin=twin) if why else twin_gain("ttft_s", steps, _NO_CHUNKS, arm, twin)
    lost = losses(opened, mine)
    return PrefixSection(
        finding=finding(arm, use, saved),
        facts=facts(use, saved, gain, lost),
        tokens=tokens_per_turn_info(steps, arm),
        gap=cache_gap_info(steps, arm),
        rates=hit_rates_info(steps),
        saved=twin_lines_info(pairs, arm, twin, "prefill"),
        losses=lost,
        unpaired=Unpaired(words=why, command=command_for(opened, (twin, arm))) if why else None,
        notes=notes_on(opened, steps, arm),
    )


def saved_of(pairs: pd.DataFrame, twin: str) -> Saved:
    """`pairs`: of `matched`, with a `prefill_s` on both sides."""
    if not len(pairs):
        return Saved(twin=twin)
    return Saved(
        twin=twin,
        n=len(pairs),
        with_s=float(numbers(pairs, "prefill_s").sum()),
        without_s=float(numbers(pairs, f"prefill_s{WITHOUT}").sum()),
    )


def finding(arm: str, use: CacheUse, saved: Saved) -> str:
    """What the layer did, in one sentence."""
    if use.hit_rate is None:
        return f"Under {arm} the engine did not say how many prompt tokens came from its cache, so nothing can be told."
    return f"Under {arm}, {percent(use.hit_rate)} of the prompt tokens came from the cache{_of(use)}{_saving(saved)}."


def _of(use: CacheUse) -> str:
    """How that compares with what was possible."""
    if use.hit_ceiling is None or use.hit_rate is None:
        return ", of an unknown ceiling"
    if not use.hit_ceiling:
        return ", and no cache could have served any: nothing that was sent had been seen before"
    if use.hit_rate >= _AS_GOOD * use.hit_ceiling:
        return ", all that any cache could have served"
    return f", of the {percent(use.hit_ceiling)} that any cache could have served"


def _saving(saved: Saved) -> str:
    if saved.saved_s is None:
        return ""
    few = " (too few to tell)" if saved.n < MIN_STEPS else ""
    over = f"over the {counted(saved.n, 'step')} that {saved.twin} finished, too{few}"
    if saved.saved_s < 0:
        return f"; that saved no prefill: it took {seconds(-saved.saved_s)} longer {over}"
    return f", which saved {seconds(saved.saved_s)} of {seconds(saved.without_s)} of prefill {over}"


def facts(use: CacheUse, saved: Saved, gain: TwinGain, lost: Losses) -> tuple[Fact, ...]:
    """The numbers beside the sentence."""
    spared = "" if saved.saved_s is None else f"of {seconds(saved.without_s)}, n = {saved.n}"
    lost_share = percent(lost.tokens / lost.prompt) if lost.prompt else DASH
    return (
        Fact(
            label="Hit rate",
            value=percent(use.hit_rate),
            note=f"ceiling {percent(use.hit_ceiling)}",
            help=f"Cached / prompt tokens, weighted by tokens, of {counted(use.n, 'step')}. The ceiling is what an "
            "infinite cache of whole blocks could have served.",
        ),
        Fact(
            label="Computed tokens",
            value=count(use.computed),
            note=f"{count(use.cached)} cached",
            help="Prompt tokens that were computed, by whichever process, and those that were found in the cache.",
        ),
        Fact(
            label="Prefill saved",
            value=seconds(saved.saved_s),
            note=spared or "not paired",
            help=f"Seconds of prefill under {saved.twin} minus under this arm, on the same requests, as the engine "
            "tells them.",
        ),
        Fact(label="First-token gain", value=gain.value, note=gain.head, help=f"Against {gain.twin}. {_said(gain)}"),
        Fact(
            label="Lost",
            value=lost_share,
            note=f"{count(lost.tokens)} tokens" if lost.prompt else "",
            help="Prompt tokens that were seen before and computed again all the same: evicted, in another process, "
            "rounded off, or rewritten. Of all prompt tokens.",
        ),
    )


def _said(gain: TwinGain) -> str:
    return " ".join(filter(None, (f"Gain: {gain.words}.", gain.note)))


def _prefills(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of which both sides told their prefill."""
    return pairs[pairs["prefill_s"].notna() & pairs[f"prefill_s{WITHOUT}"].notna()]
