"""How a run ended, from what was measured. Pure.

done      every arm that was asked for was gone through and has at least one measured step
partial   some arm was refused by the engine, ended early, or every request of it failed
failed    nothing was measured at all
(cancelled is the store's word for a run that its user stopped)

A failed step in an arm that has others does not change the state: it is a row with an error, it is counted, and the
note says so. The note is one sentence a line; arms of which the same is to be said share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from labkit.core.records import RunState

OTHERS_KEPT = "other processes kept"
"""In the note of a run whose machine was shared."""


@dataclass
class Tally:
    """What happened to each arm, by label. Mutable: the runner keeps it."""

    measured: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)
    """Arm to the engine's own words, for arms that could not be served (any more)."""
    disturbed: dict[str, float] = field(default_factory=dict)
    """Arm to the cores that others kept busy while it was measured, where those were many."""
    remarks: list[str] = field(default_factory=list)
    """What else there is to say of the run, a sentence each."""

    def of(self, arm: str) -> tuple[int, int]:
        """Steps measured and steps failed so far."""
        return self.measured[arm], self.failed[arm]

    def count(self, arm: str, error: str | None) -> None:
        (self.failed if error else self.measured)[arm] += 1


def verdict(asked: Sequence[str], tally: Tally) -> tuple[RunState, str]:
    """State and note of a run that was asked to measure these arms."""
    missing = [arm for arm in dict.fromkeys(asked) if not tally.measured[arm]]
    ended = {arm: words for arm, words in tally.refused.items() if arm not in missing}
    notes = [f"{arms} not measured: {why}" for why, arms in _alike({arm: _why(arm, tally) for arm in missing})]
    notes += [f"{arm}: {n} of {n + tally.measured[arm]} steps failed" for arm, n in _partly_failed(tally).items()]
    notes += [f"{arms} ended early: {words}" for words, arms in _alike(ended)]
    notes += [*_disturbed(tally.disturbed), *dict.fromkeys(tally.remarks)]
    return _state(len(missing), len(missing) + len(ended), len(asked)), "\n".join(map(_sentence, notes))


def _alike(words: Mapping[str, str]) -> list[tuple[str, str]]:
    """What was said of arms, each once, and of which arms."""
    return [(said, ", ".join(arm for arm in words if words[arm] == said)) for said in dict.fromkeys(words.values())]


def _disturbed(cores: Mapping[str, float]) -> list[str]:
    if not cores:
        return []
    low, high = f"{min(cores.values()):.1f}", f"{max(cores.values()):.1f}"
    kept = low if low == high else f"{low}-{high}"
    while_ = "while it was measured" if len(cores) == 1 else "while they were measured"
    return [f"{', '.join(cores)}: {OTHERS_KEPT} {kept} cores busy {while_}: times are too long"]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _state(missing: int, cut_short: int, asked: int) -> RunState:
    if missing == asked:
        return "failed"
    return "partial" if cut_short else "done"


def _why(arm: str, tally: Tally) -> str:
    return tally.refused.get(arm) or f"all {tally.failed[arm]} requests failed"


def _partly_failed(tally: Tally) -> dict[str, int]:
    return {arm: n for arm, n in tally.failed.items() if n and tally.measured[arm]}
