"""Whether several attached engines may be compared: never with different models; what else differs is said. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from labkit.core.errors import LabError
from labkit.experiments.attached.records import AttachedEngine

_COMPARED: tuple[tuple[str, Callable[[AttachedEngine], object]], ...] = (
    ("max_model_len (tokens)", lambda engine: engine.max_model_len),
    ("block size (tokens)", lambda engine: engine.block_size),
    ("maker", lambda engine: engine.maker),
    ("version", lambda engine: engine.version),
)
_HINT = (
    "Attach engines of one model. Where each serves several, name the one for all: --served-model NAME. Where two "
    "names are the same weights, start both engines with one --served-model-name."
)


def require_one_model(engines: Sequence[AttachedEngine]) -> None:
    """Raises LabError, naming engines and models, when they are asked for different ones: arms would differ by more
    than their layers. Names are all that an engine tells of its weights."""
    if len({engine.model for engine in engines}) > 1:
        served = ", ".join(f"{engine.url} is asked for {engine.model!r}" for engine in engines)
        raise LabError(f"arms of different models are not compared: {served}", _HINT)


def differences(engines: Sequence[AttachedEngine]) -> Iterator[str]:
    """A sentence each, without a full stop, for what differs between engines that tell it."""
    for name, told in _COMPARED:
        known = {told(engine) for engine in engines} - {None}
        if len(known) > 1:
            said = ", ".join(f"{_word(told(engine))} on {engine.id}" for engine in engines)
            yield f"the attached engines differ in {name}, which no layer changes: {said}"


def _word(value: object) -> str:
    return "not told" if value is None else str(value)
