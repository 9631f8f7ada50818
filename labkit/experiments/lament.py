"""What a run folder keeps of an error that cost it an arm: the words, without the secrets that they may quote."""

from __future__ import annotations

from typing import Any

from labkit.core.errors import EngineError, LabError
from labkit.core.masking import masked_text

CannotServe = LabError | OSError
"""An arm that cannot be had: its engine does not serve, nothing is there to serve, or the machine said no."""


def message_of(error: CannotServe) -> str:
    """One sentence: what happened. Masked."""
    return masked_text(error.message if isinstance(error, LabError) else str(error))


def words_of(error: CannotServe) -> dict[str, Any]:
    """`message`, `hint` and `log_tail`, as the events `refused` and `engine_died` have them. Masked."""
    hint = error.hint if isinstance(error, LabError) else ""
    tail = error.log_tail if isinstance(error, EngineError) else ()
    return {"message": message_of(error), "hint": masked_text(hint), "log_tail": list(map(masked_text, tail))}
