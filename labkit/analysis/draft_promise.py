"""What draft and verify promises before anything is measured: tokens a round, and the speed-up that they are worth.

A drafter proposes `k` tokens. One pass of the model checks them all, and yields a token of its own besides. With `tau`
tokens a round, and a draft token that costs the time of `c` passes, tau tokens take 1 + c k passes in place of tau:

    speed-up = tau / (1 + c k)         Leviathan, Kalman and Matias 2023, arXiv:2211.17192, theorem 3.8
    tau = (1 - a^(k+1)) / (1 - a)      the same, equation 1: each token is accepted with one chance a, on its own

Chen et al. 2023 (arXiv:2302.01318) describe the same rounds. Both take it that a pass over k + 1 tokens lasts as long
as a pass over one; `draft_rounds` measures how long it lasts.
"""

from __future__ import annotations

import pandas as pd

from labkit.core.errors import BadInput


def break_even(c: float, k: int) -> float:
    """Tokens that a round must yield to cost no time, which are the passes that it lasts: 1 + c k.

    Raises BadInput for a negative `c` or `k`.
    """
    for name, value in (("c", c), ("k", k)):
        if value < 0:
            raise BadInput(name, value, "0 or more")
    return 1 + c * k


def promised_gain(length: float, c: float, k: int) -> float:
    """Decode time without / with drafts, at `length` tokens a round (tau). Over 1 is faster."""
    return length / break_even(c, k)


def expected_length(chance: float, k: int) -> float:
    """Tokens a round (tau) when each of `k` draft tokens is accepted with one `chance`. Raises BadInput."""
    if not 0 <= chance <= 1:
        raise BadInput("chance", chance, "0 to 1")
    return float(sum(chance**place for place in range(k + 1)))


def given_before(positions: pd.DataFrame) -> pd.DataFrame:
    """`position_table` with a column `given`: accepted here, of those whose token before was accepted; null at 0 / 0.

    At position 1 it is the rate itself. Equation 1 takes it that all of a drafter's are the same number.
    """
    before = positions.groupby("method", sort=False)["rate"].shift(fill_value=1.0)
    return positions.assign(given=(positions["rate"] / before.where(before > 0)).astype("float64"))
