"""Which node measured which repeat of a run that was spread, and whose devices count for it.

Whole repeats go to nodes, at the same time: what another node's devices did meanwhile was for another repeat. Engines
are called `<node>/<engine>` then, and sources of samples `<node>/<source>`; without a slash they are of one machine.
"""

from __future__ import annotations

import pandas as pd

from labkit.analysis.tables import measured


def nodes_of_repeats(steps: pd.DataFrame) -> dict[int, str]:
    """Repeat to the node that measured it; empty where the run was not spread. Warm-up, and so what is void, is out."""
    kept = measured(steps)
    spread = kept[kept["engine"].str.contains("/")]
    return dict(zip(spread["repeat"].astype(int), spread["engine"].str.split("/").str[0], strict=True))


def is_near(source: str, node: str | None) -> bool:
    """Whether a device that this source tells of stands where `node` is; None: the run was not spread."""
    return "/" not in source or source.startswith(f"{node}/")
