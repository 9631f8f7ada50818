"""How many KV blocks an engine can give to requests, read off its gauge of how full its cache is.

vLLM's `kv_cache_usage_perc` is blocks in use over the blocks that there are, one of which is never given out. So every
reading is a fraction with that number, or a divisor of it, below the line, and the least common multiple of some
readings is the number itself. It needs no log and no second scrape: any run that sampled the gauge has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

_MOST = 10**6
"""More blocks than any engine has: two fractions below this are further apart than a float is wrong."""


def blocks_of(usage: Iterable[float]) -> int | None:
    """Blocks that can be given out. `usage`: readings of the gauge, 0 to 1; None where none of them lies between.

    None, too, where the readings are of no single whole, as when a page's gauge is a mean over several engines.
    """
    shares = [Fraction(share).limit_denominator(_MOST) for share in usage if 0 < share < 1]
    if not shares:
        return None
    blocks = math.lcm(*(share.denominator for share in shares))
    return blocks if blocks <= _MOST else None
