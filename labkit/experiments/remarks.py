"""What a run has to say of itself once all is measured: counters that began anew, passes not cold, drift, a client that
was the bottleneck, a tokenizer that counts otherwise than the engine, columns that an attached engine leaves null.

These do not change how the run ended; they change how far its numbers are to be trusted.
"""

from __future__ import annotations

from labkit.analysis.client_bound import client_bound
from labkit.analysis.drift import drift
from labkit.analysis.retokenized import retokenized
from labkit.experiments.attached.remarks import attached_remarks
from labkit.experiments.cold import evidence, resets
from labkit.store.runs import Run


def remarks(run: Run) -> list[str]:
    """One sentence each, without a full stop; empty when nothing is out of the ordinary."""
    steps, events = run.steps(), run.events()
    said = [
        f"{each.arm}: the counters of {each.role} began again while repeat {each.repeat} was measured ({each.why}): "
        "what they say of that time is null"
        for each in resets(events)
    ]
    said += [
        f"{each.arm}: repeat {each.repeat} did not begin cold: {each.why}"
        for each in evidence(steps, events)
        if each.found
    ]
    found = drift(steps, run.info.asked)
    said += [found.in_words()] if found and found.notable else []
    client = client_bound(steps, run.chunks(), run.samples())
    return [*attached_remarks(events), *said, *filter(None, (client.in_words(), retokenized(steps).in_words()))]
