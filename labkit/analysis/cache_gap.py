"""Why a prompt token that was seen before was computed again: the gap between what could be shared and what was cached.

Going down from what could have been shared, each loss has a name:

    template drift  the history was rewritten, so that tokens which were appended to are no prefix any more: a template
                    that drops reasoning or writes a tool call anew, text that is cut into other tokens than were
                    generated, a compacted context
    rounding        only whole blocks hit, and the last prompt token is always computed
    routing         another process of the engine had it: the decode half, or another replica
    eviction        the process had computed it, and its cache held it no longer
    off             prefix caching is off in this arm; it stands in place of routing and eviction

What is left is `new`: tokens that nothing before had, such as a tool's result, or recorded words that the engine never
said. `beyond` is the other way round: cached though nothing known could have left it there, so that the cache was warm
from elsewhere. Everything is exact: new + drift + rounding + off or (routing + eviction) + cached == prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.tables import STEP_KEY, Floats, is_finished, measured, numbers, total_tokens, typed_frame
from labkit.core.arms import arm_named
from labkit.core.columns import column
from labkit.core.records import Record

TOKENS = ("prompt", "cached", "new", "template_drift", "rounding", "off", "lost", "routing", "eviction", "beyond")
NAMED = ("template_drift", "rounding", "off", "routing", "eviction")
"""The parts of the gap."""


@dataclass(frozen=True, kw_only=True)
class CacheGapRow(Record):
    """Prompt tokens of one arm, summed over its finished steps whose prompt was measured in full; None: not known."""

    arm: str = column("string", "", "label of the arm")
    n: int = column("int64", "", "finished steps with a prompt, cached tokens and a ceiling")
    prompt: int | None = column("int64", "tokens", "prompt tokens", nullable=True)
    cached: int | None = column("int64", "tokens", "of these, served from the prefix cache", nullable=True)
    new: int | None = column("int64", "tokens", "shared with nothing before", nullable=True)
    ceiling: int | None = column("int64", "tokens", "what an infinite cache could have served", nullable=True)
    template_drift: int | None = column("int64", "tokens", "lost since the history was rewritten", nullable=True)
    rounding: int | None = column("int64", "tokens", "lost to whole blocks and to the last token", nullable=True)
    off: int | None = column("int64", "tokens", "lost since prefix caching is off in this arm", nullable=True)
    lost: int | None = column("int64", "tokens", "below the ceiling with caching on: routing + eviction", nullable=True)
    routing: int | None = column("int64", "tokens", "another process of the engine had it", nullable=True)
    eviction: int | None = column("int64", "tokens", "the process had had it and held it no longer", nullable=True)
    beyond: int | None = column("int64", "tokens", "cached, though nothing known had left it there", nullable=True)


def cache_gap(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm in the lab's order; columns as CacheGapRow declares them. Warm-up and failed steps left out."""
    parts = step_gap(steps)
    return typed_frame(CacheGapRow, [_row(arm, parts[parts["arm"] == arm]) for arm in in_order(parts["arm"])])


def step_gap(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per finished step that has all of prompt, cached, ceiling and shared: arm, STEP_KEY, TOKENS, `ceiling`.

    `routing` and `eviction` are NaN where it is not known which process had what; `lost` is their sum.
    """
    kept = measured(steps)
    kept = kept[is_finished(kept)]
    known = kept[["prompt_tokens", "cached_tokens", "ceiling_tokens", "shared_tokens"]].notna().all(axis=1)
    kept = kept[known].reset_index(drop=True)
    return kept[["arm", *STEP_KEY]].assign(**_parts(kept))


def _parts(steps: pd.DataFrame) -> dict[str, Floats]:
    """Each level is kept between what was cached and the prompt: no part is negative, and the parts add up."""
    prompt, cached = numbers(steps, "prompt_tokens"), numbers(steps, "cached_tokens")
    shared, ceiling = numbers(steps, "shared_tokens"), numbers(steps, "ceiling_tokens")
    could = np.fmax(shared, numbers(steps, "append_tokens"))
    reachable = np.minimum(numbers(steps, "reachable_tokens"), ceiling)
    levels = [np.minimum(np.maximum(level, cached), prompt) for level in (could, shared, ceiling, reachable)]
    caching = {arm: _caches(arm) for arm in steps["arm"].unique()}
    on = np.array([caching[arm] for arm in steps["arm"]], dtype=bool)
    lost = levels[2] - cached
    return {
        "prompt": prompt,
        "cached": cached,
        "new": prompt - levels[0],
        "ceiling": ceiling,
        "template_drift": levels[0] - levels[1],
        "rounding": levels[1] - levels[2],
        "off": np.where(on, 0.0, lost),
        "lost": np.where(on, lost, 0.0),
        "routing": np.where(on, levels[2] - levels[3], 0.0),
        "eviction": np.where(on, levels[3] - cached, 0.0),
        "beyond": np.maximum(cached - could, 0.0),
    }


def _caches(arm: str) -> bool:
    return arm_named(arm).prefix_caching


def _row(arm: str, parts: pd.DataFrame) -> CacheGapRow:
    sums = {name: total_tokens(numbers(parts, name)) for name in (*TOKENS, "ceiling")}
    for name in ("routing", "eviction"):  # a sum of what is known of some steps would pass for one of all
        sums[name] = None if parts[name].isna().any() else sums[name]
    return CacheGapRow(arm=arm, n=len(parts), **sums)
