"""The chunks of each step, as slices of a few arrays: a million chunks must not become a million objects."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from labkit.core.records import StepRecord

_KEY = ("arm", "task", "agent", "repeat", "turn", "recording", "condition", "cache", "warmup")
_Bools = npt.NDArray[np.bool_]


class Stream(NamedTuple):
    """One step's chunks in order. All arrays have one entry per chunk.

    `t`: arrival in seconds since the run's start. `text`: it carried text, which a `held` one does not. `output`: text
    that is no reasoning. `tokens`: NaN where the ids were not reported.
    """

    t: npt.NDArray[np.float64]
    text: _Bools
    output: _Bools
    tokens: npt.NDArray[np.float64]


class Streams:
    """Chunks by their step. The store keeps a step's chunks together and in the order of the steps."""

    def __init__(self, chunks: pa.Table) -> None:
        kinds = chunks["kind"].combine_chunks().dictionary_encode()
        names, codes = kinds.dictionary.to_pylist(), kinds.indices.to_numpy(zero_copy_only=False)
        held, reasoning = (np.isin(codes, [i for i, n in enumerate(names) if n == name]) for name in _NOT_OUTPUT)
        tokens = chunks["tokens"].cast(pa.float64()).combine_chunks().to_numpy(zero_copy_only=False)
        self._all = Stream(chunks["t"].to_numpy(), ~held, ~(held | reasoning), tokens)
        self._waiting = _segments(chunks)

    def take(self, step: StepRecord) -> Stream:
        """The step's chunks; a step that was sent again under the same key gets the next ones. Empty without any."""
        segments = self._waiting.get(tuple(getattr(step, name) for name in _KEY))
        part = segments.pop(0) if segments else slice(0, 0)
        return Stream(self._all.t[part], self._all.text[part], self._all.output[part], self._all.tokens[part])


_NOT_OUTPUT = ("held", "reasoning")


def _segments(chunks: pa.Table) -> dict[tuple[Any, ...], list[slice]]:
    """Where each stream lies, by its step's key: it starts where the position in the stream does not grow."""
    index = chunks["index"].to_numpy()
    starts = np.flatnonzero(np.diff(index, prepend=index[:1]) <= 0)
    ends = np.append(starts, len(index))[1:]
    found: dict[tuple[Any, ...], list[slice]] = defaultdict(list)
    heads = chunks.select(_KEY).take(pa.array(starts)).to_pylist()
    for head, start, end in zip(heads, starts, ends, strict=True):
        found[tuple(head[name] for name in _KEY)].append(slice(int(start), int(end)))
    return found
