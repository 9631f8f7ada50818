"""What a reader of a run's numbers must not overlook, in plain words, heaviest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from labkit.analysis.client_bound import client_bound
from labkit.analysis.drift import drift
from labkit.analysis.format import plain
from labkit.analysis.starts import starts_of
from labkit.analysis.tables import is_finished
from labkit.core.arms import ARMS, arm_named
from labkit.experiments.bystanders import MANY_CORES
from labkit.experiments.cold import evidence
from labkit.experiments.compared import is_toggled
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.order import order_seed
from labkit.experiments.report.english import capital, counted, listed
from labkit.plots.theme import arm_order

_KNOWN = frozenset(arm.label for arm in ARMS)


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """`words`: a sentence for everybody; `detail`: the numbers behind it, for who wants them.

    `of_times`: times alone are in doubt, and not counts of tokens.
    """

    words: str
    detail: str = ""
    of_times: bool = False


def doubts(run: Opened) -> tuple[Doubt, ...]:
    """Every reason to trust the run's numbers less."""
    if run.counted.empty:
        return tuple(_state(run))
    found = (_state, _lost, _client, _busy, _drift, _size, _starts, _split, _failed, _toggled, _cold, _order)
    return tuple(doubt for one in found for doubt in one(run))


def _state(run: Opened) -> Iterator[Doubt]:
    words = {
        "running": "The run still goes on, and these are the numbers so far.",
        "partial": "The run is incomplete: what it could not measure is left out.",
        "cancelled": "The run was stopped early, so these are the numbers of what it measured until then.",
        "failed": "The run failed, so these are the numbers of what it measured until then.",
    }
    if said := words.get(run.info.state):
        yield Doubt(words=said, detail=run.info.note)


def _lost(run: Opened) -> Iterator[Doubt]:
    view = run.view
    for arm, said in {**view.refused, **view.died}.items():
        how = "The engine did not start" if arm in view.refused else "The engine died"
        yield Doubt(words=f"{how} under {arm}, so that setting is not measured, or not to its end.", detail=said)


def _client(run: Opened) -> Iterator[Doubt]:
    found = client_bound(run.steps, run.chunks, run.samples)
    if found.bound:
        words = "The program that measures was itself busy and late, so the times are not the engine's alone."
        yield Doubt(words=words, detail=capital("; ".join(found.why)), of_times=True)


def _busy(run: Opened) -> Iterator[Doubt]:
    cores = [event["cores"] for event in run.events if event["type"] == "bystanders" and event.get("cores") is not None]
    busy = sum(each > MANY_CORES for each in cores)
    if busy:
        kept = f"up to {plain(max(cores))} processor cores busy in {busy} of {counted(len(cores), 'part')} of the run"
        words = f"Other programs kept {kept}: times are too long there."
        yield Doubt(words=words, of_times=True)


def _drift(run: Opened) -> Iterator[Doubt]:
    found = drift(run.steps, run.info.asked)
    if found is not None and found.gain is not None and found.notable:
        way = "slower" if found.gain < 1 else "faster"
        by = f"{plain(max(found.gain, 1 / found.gain))} times {way}"
        words = f"{found.arm}, measured again at the end, was {by}: smaller differences may be the machine's."
        yield Doubt(words=capital(words), detail=capital(found.in_words()), of_times=True)


def _size(run: Opened) -> Iterator[Doubt]:
    if run.counted["task"].nunique() == 1:
        yield Doubt(words="All requests are of one task: other tasks may gain more, or less.")


def _starts(run: Opened) -> Iterator[Doubt]:
    steps = run.counted[run.counted["arm"].isin(_KNOWN)]
    shared = starts_of(steps).shared(arm_order(steps["arm"]), set(steps["repeat"]))
    if shared:
        words = "Some settings ran on one and the same started engine, so chance looks smaller than it is."
        yield Doubt(
            words=words,
            detail=f"Shared a start: {', '.join(f'{one} and {two}' for one, two in shared)}.",
            of_times=True,
        )


def _split(run: Opened) -> Iterator[Doubt]:
    split = [arm for arm in arm_order(run.counted["arm"]) if arm_named(arm).pd_split]
    if split and not run.info.fingerprint.get("gpu"):
        words = "Prefill and decode shared one machine's processors: what a split gains on two machines cannot show."
        yield Doubt(words=words, detail=f"In {listed(split)}.", of_times=True)


def _failed(run: Opened) -> Iterator[Doubt]:
    failed = int((~is_finished(run.counted)).sum())
    if failed:
        n = counted(len(run.counted), "request")
        yield Doubt(words=f"{failed} of {n} failed: they are in no time, and so in no gain.")


def _toggled(run: Opened) -> Iterator[Doubt]:
    n = int(is_toggled(run.sent).sum())
    if n:
        yield Doubt(words=f"{counted(n, 'step')} followed a toggle in mid-run and are compared with nothing.")


def _cold(run: Opened) -> Iterator[Doubt]:
    warm = [f"{one.arm}: {one.why}" for one in evidence(run.counted, run.events) if one.found]
    if warm:
        words = "Some passes found something in the cache that an earlier one had left: they look too fast."
        yield Doubt(words=words, detail=capital("; ".join(warm)))


def _order(run: Opened) -> Iterator[Doubt]:
    if run.counted["arm"].nunique() > 1 and order_seed(run.info.experiment, run.info.asked) is None:
        words = "Settings were measured in a fixed order, so a machine that slows down looks like a layer."
        yield Doubt(words=words, of_times=True)
