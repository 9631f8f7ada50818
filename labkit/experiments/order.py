"""In which order a run's blocks were, as its report says it: shuffled by a seed, or fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.experiments.words import asked_of

_ONE_BLOCK = ("agent",)
"""Their seed is that of the sampling."""


def order_seed(name: str, asked: Mapping[str, Any]) -> int | None:
    """What the order of blocks was drawn from; None: it was fixed. `name`, `asked`: as `run.json` keeps them.

    A record that has another order than its `seed` says has an `order_seed`.
    """
    if name in _ONE_BLOCK:
        return None
    seed = getattr(asked_of(name, asked), "order_seed", asked.get("seed"))
    return None if seed is None else int(seed)
