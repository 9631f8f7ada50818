"""Prediction first, then the result: one sentence in Markdown that says which of the two the reader has before them."""

from __future__ import annotations

from labkit.core.errors import BadInput


class Unmeasured(str):
    """Why a prediction has nothing to be held against: no number was measured, which is not the same as too few."""


def told(prediction: str, holds: bool | None, saw: str) -> str:
    """`**As predicted:** saw`, or `**Surprise:** predicted was ..., but saw`; `holds` None: too few to tell, or
    not measured where `saw` is `Unmeasured`.

    `prediction` and `saw` are clauses without a full stop; `saw` carries the numbers and n. Raises BadInput for an
    empty one.
    """
    for name, text in (("prediction", prediction), ("saw", saw)):
        if not text.strip():
            raise BadInput(name, text, "a clause that is not empty")
    if isinstance(saw, Unmeasured):
        return f"**Not measured:** predicted is that {prediction}; {saw}."
    if holds is None:
        return f"**Too few to tell:** predicted was that {prediction}; {saw}."
    if holds:
        return f"**As predicted:** {saw}."
    return f"**Surprise:** predicted was that {prediction}, but {saw}."
