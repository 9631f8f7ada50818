"""The likely cause of a dead engine, read from its log: a small table of what was seen, not a guess at everything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Cause(NamedTuple):
    """`what` happened and what to do about it (`hint`). `line`: where the log says so; None when it does not."""

    what: str
    hint: str
    line: int | None = None


_TABLE: tuple[tuple[str, str, str], ...] = (
    (r"(?i)address already in use|EADDRINUSE|errno 98", "a port was taken in the meantime", "Start it again."),
    (
        r"out of memory|OutOfMemoryError|MemoryError|Cannot allocate memory|std::bad_alloc|"
        r"No available memory for the cache",
        "it ran out of memory",
        "End other engines (labkit ps, labkit down), or lower kv-cache-memory-bytes in the profile.",
    ),
    (
        r"error: (?P<what>unrecognized arguments?:.*|argument .*)",
        "its command line was refused: {what}",
        "Check the profile's flags: labkit plan prints the whole command.",
    ),
    (
        r"(?P<what>[Aa]rctic Inference is required[^.]*|arctic[-_]inference.*not installed[^.]*)",
        "install it with `make suffix` first: {what}",
        "Run: make suffix",
    ),
    (
        r"MoRIIO is not available\. Please ensure",
        "MoRI-IO needs the module mori, which is not installed",
        "Install amd_mori beside vLLM: wheels of vLLM come without it.",
    ),
    (
        r"no active RDMA device on this host",
        "MoRI found no active RDMA network card",
        'Within one node write backend = "xgmi" under kv_connector_extra_config of the profile.',
    ),
    (
        r"MoRIIO discovery heartbeat exited with code (?P<code>-?\d+)",
        "its heartbeat to the router ended with status {code}",
        "The router serves no engine that it does not hear of: start it again.",
    ),
    (
        r"No module named '?(?P<what>[\w.]+)'?",
        "the module {what} is not installed",
        "Install the engine's requirements again: make setup.",
    ),
    (
        r"(?P<what>(?:\S* is not a local folder|Repo id must be|Invalid repository ID|Can't load the configuration|"
        r"does not appear to have a file named config|LocalEntryNotFoundError|OSError: .*config\.json).*)",
        "the model was not found: {what}",
        "Fetch the weights first: labkit models fetch NAME.",
    ),
    (
        r"(?P<what>(?:pydantic_core\S*ValidationError|ValueError|NotImplementedError): .+)",
        "it refused its configuration: {what}",
        "labkit plan prints the whole command.",
    ),
)


def likely_cause(log: Sequence[str], code: int | None = None) -> Cause | None:
    """The first row of the table that a line of `log` matches; `code`: the exit status, negative for a signal."""
    for pattern, what, hint in _TABLE:
        for number, line in enumerate(log):
            if match := re.search(pattern, line):
                words = {name: text.strip() for name, text in match.groupdict().items()}
                return Cause(what.format(**words), hint, number)
    if code == -9:
        return Cause("it was killed (signal 9)", "The kernel does this when memory runs out: see labkit ps.")
    return None
