"""How much of the prompts came from the prefix cache, and how much could have.

Token-weighted: one long prompt counts as much as many short ones with as many tokens. Steps that did not report are
left out of both sides of a rate; nothing is taken for 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.tables import numbers, share, total_tokens


@dataclass(frozen=True, kw_only=True)
class CacheUse:
    """`n`: steps that reported both prompt and cached tokens. Token counts are sums; None is not measured.

    `computed` is prompt minus cached, by whichever process. `transferred` tokens moved from prefill to decode: they are
    a part of the other two, not a third one.
    """

    n: int
    computed: int | None
    cached: int | None
    transferred: int | None
    hit_rate: float | None
    hit_ceiling: float | None


def cache_use(steps: pd.DataFrame) -> CacheUse:
    """Prompt tokens by where they came from, the hit rate and its ceiling, over all rows of `steps`."""
    prompt, cached = numbers(steps, "prompt_tokens"), numbers(steps, "cached_tokens")
    return CacheUse(
        n=int((~np.isnan(prompt - cached)).sum()),
        computed=total_tokens(prompt - cached),
        cached=total_tokens(cached),
        transferred=total_tokens(numbers(steps, "transferred_tokens")),
        hit_rate=share(cached, prompt),
        hit_ceiling=share(numbers(steps, "ceiling_tokens"), prompt),
    )
