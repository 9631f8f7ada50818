"""Method: what was sent, in which order, what was thrown away, and what a number in this report means."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.analysis.tables import is_finished
from labkit.experiments.attached.kept import attached_engines
from labkit.experiments.order import order_seed
from labkit.experiments.report.blocks import Pairs, Points, Section
from labkit.experiments.report.english import counted, listed, shown
from labkit.experiments.report.material import Material
from labkit.experiments.warmup import TASK as WARM_UP
from labkit.experiments.words import recordings_in_words, replayed_in_words

_DEFINITIONS = (
    "Time to first token (TTFT): from the send to the first event that carries any generated token (text, reasoning, a "
    "tool call, or one that the engine's parser still holds back), on one monotonic clock, at the client.",
    "End to end: from the send to the end of the response; the tool's time is not in it.",
    "Gap between chunks (ITL): between successive events of one stream, pooled over all streams. A chunk is not a "
    "token: under speculation it carries several, so token counts come from the engine's usage report.",
    "Percentiles interpolate linearly between the two nearest values.",
    "A dash means not measured. It is never a zero.",
)


def method(material: Material) -> Section:
    """The section; facts that the run does not know are left out."""
    rows = tuple((name, text) for name, text in _facts(material) if text)
    return Section("method", "Method", (Pairs(rows), Points(_DEFINITIONS)))


def _facts(material: Material) -> Iterator[tuple[str, str]]:
    asked = material.asked
    yield "experiment", f"{material.info.experiment}, {_profile(material)}"
    yield "requests", _requests(material)
    yield "replay", replayed_in_words(material.info.experiment, asked).removeprefix(f"{recordings_in_words(asked)}: ")
    yield "arms", _arms(material)
    yield "varied besides", "; ".join(material.conditions)
    yield "order of blocks", _order(material)
    yield "sittings", _sittings(material)
    yield "warm-up", _warmup(material)
    yield "cold and warm", _cache(material)
    yield "prefix caching", _switch(material)
    yield "pairs", _pairs(material)
    yield "excluded", _excluded(material)


def _profile(material: Material) -> str:
    """An engine that was attached is no profile's, though one may lend its block size."""
    named, engines = material.asked.get("profile"), attached_engines(material.info.fingerprint)
    if not engines:
        return f"profile {shown(named)}"
    lent = f"; profile {named} was named beside it" if named else ""
    return f"attached: {listed(str(each.get('url')) for each in engines.values())}{lent}"


def _requests(material: Material) -> str:
    steps = material.measured
    if not len(steps):
        return "none came to be measured"
    recordings = [name for name in steps["recording"].unique() if name]
    tasks = "" if recordings else f" ({listed(sorted(map(str, steps['task'].unique())))})"
    sent = f"{counted(len(steps), 'request')} measured, of {counted(steps['task'].nunique(), 'task')}{tasks}"
    again = int((~material.steps["warmup"].astype(bool)).sum()) - len(steps)
    sent += f", and {counted(again, 'request')} of the block at the end that only shows drift" if again else ""
    return f"{sent}, from {_recordings(recordings)}" if recordings else sent


def _recordings(names: list[str]) -> str:
    return f"the recording {names[0]}" if len(names) == 1 else f"{len(names)} recordings: {listed(names)}"


def _arms(material: Material) -> str:
    asked = material.view.arms or [str(material.asked.get(name, "")) for name in ("against", "arm")]
    gone = [arm for arm in material.view.arms if arm not in material.arms]
    words = f"asked for: {listed(filter(None, asked))}" if any(asked) else f"measured: {listed(material.arms)}"
    return f"{words}; without a measured request: {listed(gone)}" if gone else words


def _order(material: Material) -> str:
    served = {event.get("block", -number): event for number, event in enumerate(material.told("serving"), 1)}
    blocks = [f"{event.get('label', event['arm'])} {event['repeat'] + 1}" for event in served.values()]
    if not blocks:
        return ""
    seed = order_seed(material.info.experiment, material.asked)
    how = "fixed: drift of the machine would look like an effect" if seed is None else f"shuffled, seed {seed}"
    return f"{', '.join(blocks)} ({how})"


def _sittings(material: Material) -> str:
    """Said only of a run that was cut short and resumed."""
    again = len(list(material.told("resume")))
    return f"{again + 1}: it was cut short and resumed; what was half done does not count" if again else ""


def _warmup(material: Material) -> str:
    thrown = material.steps[material.steps["warmup"].astype(bool)]
    n = int((thrown["task"] == WARM_UP).sum())
    said = f"{counted(n, 'request')} at the start of blocks, thrown away" if n else "none was sent"
    more = counted(len(thrown) - n, "request")
    return f"{said}; besides, {more} {_voided(material)}" if len(thrown) > n else said


def _voided(material: Material) -> str:
    """Why requests of the recordings themselves do not count."""
    if len(material.windows):
        return "before all agents were at work, or after, which do not count"
    return "of passes that broke off, or sent again before a warm pass, which do not count"


def _cache(material: Material) -> str:
    kinds = material.measured["cache"].value_counts()
    if not len(kinds):
        return ""
    sent = listed(f"{n} {name}" for name, n in kinds.items())
    meaning = "a cold pass has a cache salt that nothing before it used; a warm one repeats the pass just before it"
    return f"{sent}: {meaning}. {_evidence(material)}"


def _evidence(material: Material) -> str:
    """Whether cold passes began cold, as the requests and the engine's counters witness."""
    blocks, sure = material.cold, [one for one in material.cold if one.state == "confirmed"]
    if not blocks:
        return ""
    said = f"Cold is confirmed in {len(sure)} of {counted(len(blocks), 'block')}"
    first = dict.fromkeys(one.why.partition(";")[0] for one in sure)
    whys = "; ".join(first) if len(sure) == len(blocks) else "see Limits"
    return f"{said} ({whys})"


def _switch(material: Material) -> str:
    by: dict[str, list[str]] = {}
    for arm in material.arms:
        rows = material.measured[material.measured["arm"] == arm]
        by.setdefault(listed(sorted(rows["switched_by"].unique())), []).append(arm)
    meaning = {"salt": "a fresh cache salt on every request where it is off", "flag": "the server's flag"}
    return "; ".join(f"{listed(arms)}: by {meaning.get(how, how)}" for how, arms in by.items())


def _pairs(material: Material) -> str:
    if len(material.arms) < 2:
        return ""
    if any(material.told("outcome")):
        return "success by task and seed; times are not paired, since every attempt goes its own way"
    return (
        "the same request of the same pass (recording, agent, condition, cache, repeat and turn) under two arms; "
        "requests of one task are one cluster"
    )


def _excluded(material: Material) -> str:
    failed = int((~is_finished(material.measured)).sum())
    pinned = int((material.measured["mode"] == "pinned").sum())
    said = [f"{counted(failed, 'failed request')} from times (they stay in n)" if failed else ""]
    said.append(f"{counted(pinned, 'request')} of pinned length from acceptance" if pinned else "")
    return listed(filter(None, said)) or "nothing but the warm-up"
