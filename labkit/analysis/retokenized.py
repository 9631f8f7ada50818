"""Whether the tokenizer counts a prompt as the engine did when it served it.

Text to tokens and back is not length preserving, and a template can be rendered in two ways. The lab takes token counts
from `usage`; only the cache ceiling rests on the tokenizer, and where the two differ it is of another prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.tables import is_finished, measured, numbers
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class Retokenized(Record):
    """`n`: prompts counted by both; `differing`: of these, not alike; `most`: the largest difference, in tokens."""

    n: int
    differing: int
    most: int

    def in_words(self) -> str:
        """One sentence without its stop; empty when all counts agree."""
        if not self.differing:
            return ""
        return (
            f"the tokenizer counts {self.differing} of {self.n} prompts otherwise than the engine did, by up to "
            f"{self.most} tokens: the cache ceiling of these is of another prompt"
        )


def retokenized(steps: pd.DataFrame) -> Retokenized:
    """The two counts of every finished step, warm-up left out."""
    kept = measured(steps)
    kept = kept[is_finished(kept)]
    off = np.abs(numbers(kept, "retokenized_tokens") - numbers(kept, "prompt_tokens"))
    known = off[~np.isnan(off)]
    return Retokenized(n=known.size, differing=int((known > 0).sum()), most=int(known.max(initial=0.0)))
