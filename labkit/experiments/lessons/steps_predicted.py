"""What an agent's steps will cost in prompt tokens, before anything is measured: the recording's own lengths, added up.

Every call sends the whole conversation again. With a first prompt of p tokens and g more at each step, N steps send

    N p  +  g N (N - 1) / 2

tokens: the first part grows in step with N, the second with its square. A prefix cache that loses nothing computes each
token once, so that it leaves the last prompt alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.format import percent
from labkit.analysis.tables import typed_frame
from labkit.core.columns import column
from labkit.core.errors import BadInput
from labkit.core.records import Record
from labkit.traffic.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Line:
    """Prompts as two numbers: `first` tokens, and `more` with each step."""

    first: int
    more: float

    def sent(self, steps: int) -> float:
        """Prompt tokens of so many steps."""
        return steps * self.first + self._growth(steps)

    def growth_share(self, steps: int) -> float:
        """The part of them that is there because prompts grow, 0 to 1."""
        return self._growth(steps) / self.sent(steps)

    @property
    def half_at(self) -> float | None:
        """Steps after which half of all tokens are there because prompts grow; None where they do not."""
        return 1 + 2 * self.first / self.more if self.more > 0 else None

    def _growth(self, steps: int) -> float:
        return self.more * steps * (steps - 1) / 2


@dataclass(frozen=True, kw_only=True)
class PredictedRow(Record):
    """A recording cut after so many steps; tokens as its own prompts were counted."""

    steps: int = column("int64", "", "LLM calls")
    last_prompt: int = column("int64", "tokens", "the last prompt: what a cache that loses nothing computes in all")
    sent: int = column("int64", "tokens", "all prompts, added up: what is computed without a cache")
    by_formula: float = column("float64", "tokens", "the same from two numbers, N p + g N (N - 1) / 2")
    growth_share: float = column("float64", "", "of `by_formula`, the part with the square of N, 0 to 1")


def prompts(recording: Recording) -> pd.DataFrame:
    """A row a step: `turn`, `kind`, `prompt` tokens, `added` since the step before, `sum` so far. Raises BadInput."""
    lengths = _lengths(recording)
    frame = pd.DataFrame({"turn": [step.turn for step in recording.steps], "kind": [s.kind for s in recording.steps]})
    prompt = pd.Series(lengths)
    return frame.assign(prompt=prompt, added=np.diff(lengths, prepend=0), sum=prompt.cumsum())


def line(recording: Recording) -> Line:
    """The first prompt and the mean growth over the whole recording. Raises BadInput."""
    lengths = _lengths(recording)
    return Line(first=lengths[0], more=(lengths[-1] - lengths[0]) / max(len(lengths) - 1, 1))


def predicted(recording: Recording, counts: Collection[int]) -> pd.DataFrame:
    """One row per count, columns as PredictedRow declares them; a count beyond the recording stands under its length.

    Raises BadInput for a count below 1, and for a recording whose prompts were not counted.
    """
    lengths, straight = _lengths(recording), line(recording)
    if not counts or min(counts) < 1:
        raise BadInput("counts", list(counts), "one or more numbers of steps, each 1 or more")
    rows = [
        PredictedRow(
            steps=count,
            last_prompt=lengths[count - 1],
            sent=sum(lengths[:count]),
            by_formula=straight.sent(count),
            growth_share=straight.growth_share(count),
        )
        for count in sorted({min(count, len(lengths)) for count in counts})
    ]
    return typed_frame(PredictedRow, rows)


def predicted_shown(table: pd.DataFrame) -> pd.DataFrame:
    """What `predicted` returns, for readers."""
    cells = {
        "steps": table["steps"],
        "last prompt": table["last_prompt"].map("{:,}".format),
        "all prompts, added up": table["sent"].map("{:,}".format),
        "by the formula": table["by_formula"].map("{:,.0f}".format),
        "of it by growth": table["growth_share"].map(percent),
    }
    return pd.DataFrame(cells).set_index("steps")


def formula(recording: Recording) -> str:
    """The two numbers in a sentence, and from which step on growth is most of the cost."""
    straight = line(recording)
    said = (
        f"{recording.header.name}: the first prompt has {straight.first:,} tokens, each step adds {straight.more:.0f}"
    )
    if straight.half_at is None:
        return f"{said}; nothing grows."
    return f"{said}. Beyond {straight.half_at:.0f} steps, most prompt tokens are sent because prompts grow."


def _lengths(recording: Recording) -> list[int]:
    lengths = [step.usage.prompt_tokens for step in recording.steps]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        name = recording.header.name
        raise BadInput("recording", name, "one whose prompts were counted", "labkit record counts them.")
    return known
