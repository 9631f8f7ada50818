"""What limits a finding, a sentence each: how often it was measured, what failed, was toggled, who else was busy."""

from __future__ import annotations

from labkit.analysis.format import percent
from labkit.analysis.tables import is_finished
from labkit.experiments.bystanders import MANY_CORES
from labkit.experiments.compared import is_toggled
from labkit.experiments.dashboard.live.pairs import Pairs
from labkit.experiments.dashboard.live.two_arms import cold_sent
from labkit.experiments.dashboard.opened import Opened

_DIFFERS = 0.05


def caveats(opened: Opened, pairs: Pairs, beside: Opened | None = None) -> tuple[str, ...]:
    """Of this run's arm and of what it is set against."""
    found = [_laps(pairs)] if pairs.n else []
    found += [
        _tokens(pairs),
        _failed(opened, pairs, beside),
        toggled(opened),
        _unsplit(pairs),
        _busy(opened, pairs, beside),
    ]
    return tuple(filter(None, [*found, _across(opened, beside)]))


def _laps(pairs: Pairs) -> str:
    if pairs.laps <= 1:
        return "One pass has no interval: more laps would tell whether it holds."
    return f"{pairs.laps} passes: the Compare page says with which interval."


def _tokens(pairs: Pairs) -> str:
    """A natural reply may be longer in one arm: time that no layer is to blame for."""
    new, old = pairs.tokens
    if not new or not old or abs(new / old - 1) <= _DIFFERS:
        return ""
    more = "more" if new > old else "fewer"
    return f"{pairs.arm} wrote {percent(abs(new / old - 1))} {more} tokens than {pairs.against} in these steps."


def _failed(opened: Opened, pairs: Pairs, beside: Opened | None) -> str:
    """Of either side, in the run that it is of."""
    there = failed_under(beside or opened, pairs.against)
    where = " in the run beside" if beside is not None else ""
    said = [f"{there} under {pairs.against}{where}"] if there else []
    here = failed_under(opened, pairs.arm)
    said += [f"{here} under {pairs.arm}"] if here else []
    return f"Failed, and in no pair: {' and '.join(said)}." if said else ""


def failed_under(of: Opened, arm: str) -> int:
    """Steps of this arm without a whole answer."""
    rows = cold_sent(of)
    return int((~is_finished(rows) & (rows["arm"] == arm)).sum())


def toggled(opened: Opened) -> str:
    """How many steps followed a toggle, and where they are."""
    n = int(is_toggled(cold_sent(opened)).sum())
    if not n:
        return ""
    were = "1 step was" if n == 1 else f"{n} steps were"
    return f"{were} served by another arm than planned, after a toggle: seen in the lanes, counted in no pair or sum."


def _unsplit(pairs: Pairs) -> str:
    """With several agents at once an engine's counters cannot be told apart by request."""
    none = pairs.here["prefill_s"].isna().all() and pairs.there["prefill_s"].isna().all()
    return "The engine told no times of single requests: lanes show what the client saw." if none and pairs.n else ""


def busy_cores(opened: Opened, pairs: Pairs, beside: Opened | None) -> float:
    """The most cores that others kept busy while one of the two arms was measured; 0 where it is too little to say."""
    took = [
        float(event["cores"])
        for run in (opened, beside)
        for event in (run.events if run else ())
        if event["type"] == "bystanders" and event["arm"] in (pairs.arm, pairs.against) and event.get("cores")
    ]
    return most if (most := max(took, default=0.0)) > MANY_CORES else 0.0


def _busy(opened: Opened, pairs: Pairs, beside: Opened | None) -> str:
    """While the run goes on; its own note says it at the end."""
    cores = busy_cores(opened, pairs, beside)
    return f"Other processes kept up to {cores:.1f} cores busy meanwhile: times are too long." if cores else ""


def _across(opened: Opened, beside: Opened | None) -> str:
    """Two runs are not measured in one sitting."""
    if beside is None:
        return ""
    if opened.info.fingerprint.get("git") != beside.info.fingerprint.get("git"):
        return "Two runs, of two states of the code: the Compare page says what differs."
    return "Two runs, one after the other: what changed on the machine between them is in the ratio."
