"""Does one measure follow another? Spearman's rank correlation: it asks for no straight line, and no unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from labkit.analysis.tables import Floats

Values = Sequence[float] | Floats


def rank_correlation(one: Values, other: Values) -> float | None:
    """Spearman's rho, -1 to 1: Pearson's correlation of the ranks, equal values sharing their mean rank.

    Pairs with a NaN are left out. None for fewer than three pairs, or where one of the two never changes.
    Source: Spearman, The American Journal of Psychology 15 (1904), 72. Raises ValueError for unequal lengths.
    """
    pairs = pd.DataFrame({"one": np.asarray(one, dtype=float), "other": np.asarray(other, dtype=float)}).dropna()
    if len(pairs) < 3 or (pairs.nunique() < 2).any():
        return None
    ranks = pairs.rank()
    return float(np.corrcoef(ranks["one"], ranks["other"])[0, 1])
