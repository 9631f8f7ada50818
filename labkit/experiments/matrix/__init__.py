"""The support matrix of a profile: what is known of each arm, with each drafter, over each transfer. Never a bare tick.

known = matrix("mi300x-8-qwen3-235b")
known.tables[0].cells[0].words      # measured here, accepted by vLLM's parser, refused: ..., not tried
"""

from labkit.experiments.matrix.kept import keep_told, read_told
from labkit.experiments.matrix.known import ask_engine, matrix
from labkit.experiments.matrix.markdown import as_markdown, write_between_markers
from labkit.experiments.matrix.records import Known, KnownCell, KnownTable

__all__ = [
    "Known",
    "KnownCell",
    "KnownTable",
    "as_markdown",
    "ask_engine",
    "keep_told",
    "matrix",
    "read_told",
    "write_between_markers",
]
