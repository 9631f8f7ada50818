"""What of a layer a run can show: its arms with the layer on, what each is compared with, and the rows of both.

An arm's *twin* is the same arm with the one layer off: `prefix+spec` is the twin of `all` for the split, and `base`
that of `spec` for speculation. A pair is one request in an arm and in its twin, of the same condition: agents that take
what comes (a window under load) and agents that decide themselves send no two requests alike, so these runs have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from labkit.analysis.tables import STEP_KEY, is_finished
from labkit.core.arms import LAYERS, Arm, Layer, arm_named
from labkit.core.conditions import agents_of, is_reference, method_of, steps_of
from labkit.core.records import Cache
from labkit.experiments.catalogue import EXPERIMENTS
from labkit.experiments.compared import is_toggled
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import capital, counted, listed, sentence
from labkit.experiments.report.material import drawable
from labkit.experiments.words import asked_in_words
from labkit.plots.theme import arm_order

NAMES: dict[Layer, str] = {
    "prefix_caching": "prefix caching",
    "pd_split": "the prefill/decode split",
    "speculation": "speculation",
}
WITHOUT = "_without"


@dataclass(frozen=True, kw_only=True)
class LayerHere:
    """`arms`: those with the layer on that have a step which counts. `missing`: why there are none; `command`: get one.

    `caches`, `conditions`: what can be chosen among the steps of these arms. `live`: the run goes on.
    """

    layer: Layer
    arms: tuple[str, ...] = ()
    caches: tuple[Cache, ...] = ()
    conditions: tuple[str, ...] = ()
    missing: str = ""
    command: str = ""
    live: bool = False


def layer_here(opened: Opened, layer: Layer) -> LayerHere:
    """What can be chosen in this layer's section; without an arm, what to do."""
    steps = drawable(opened.counted)
    on = [arm for arm in arm_order(steps["arm"]) if layer in arm_named(arm).layers]
    if not on:
        arm = Arm(**{name: name == layer for name in LAYERS})
        command = command_for(opened, (twin_of(arm.label, layer), arm.label))
        return LayerHere(layer=layer, missing=_missing(opened, steps, layer), command=command, live=opened.live)
    mine = steps[steps["arm"].isin(on)]
    return LayerHere(
        layer=layer,
        arms=tuple(on),
        caches=tuple(cache for cache in ("cold", "warm") if (mine["cache"] == cache).any()),
        conditions=tuple(map(str, mine["condition"].unique())),
        live=opened.live,
    )


def twin_of(arm: str, layer: Layer) -> str:
    """The arm with this layer off, all else equal. Raises UnknownName."""
    return replace(arm_named(arm), **{layer: False}).label


def command_for(opened: Opened, arms: tuple[str, ...]) -> str:
    """The run's own question under these arms; the quick look where it was not asked about a list of arms."""
    info = opened.info
    known = {each.name: each for each in EXPERIMENTS}.get(info.experiment)
    own = known is not None and "arms" in known.params and "arms" in info.asked
    kept = info.asked if own else {name: info.asked.get(name) for name in ("profile", "recording")}
    told = {name: value for name, value in kept.items() if value is not None}
    words = asked_in_words(info.experiment if own else "quick", {**told, "arms": list(arms)})
    return words if "--arms" in words else f"{words} --arms {','.join(arms)}"


def chosen(opened: Opened, cache: str, condition: str | None) -> pd.DataFrame:
    """The steps that count, of one cache state and of one condition (None: of all), in arms that have a colour."""
    steps = drawable(opened.counted)
    steps = steps[steps["cache"] == cache]
    return steps if condition is None else steps[steps["condition"] == condition]


def matched(steps: pd.DataFrame, arm: str, twin: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """One row per request that finished in both: these columns of the arm, and the twin's with WITHOUT behind them."""
    done = steps.loc[is_finished(steps) & steps["arm"].isin((arm, twin)), ["arm", *STEP_KEY, *columns]]
    mine, other = (done[done["arm"] == one].drop_duplicates(STEP_KEY) for one in (arm, twin))
    return mine.merge(other, on=STEP_KEY, suffixes=("", WITHOUT))


def folded(rows: pd.DataFrame) -> pd.DataFrame:
    """Steps or chunks with their condition moved into the recording's name, so that pairs stay within a condition."""
    if not (rows["condition"] != "").any():
        return rows
    names = rows["recording"].astype(str) + " " + rows["condition"].astype(str)
    return rows.assign(recording=names, condition="")


def why_unpaired(opened: Opened, steps: pd.DataFrame, arm: str, twin: str) -> str:
    """Why this arm has no pairs with its twin in this run; empty where it has some."""
    if not (steps["arm"] == twin).any():
        return f"{twin} was not measured in this run, so nothing says what {arm} would have taken without the layer."
    if opened.own_ways:
        return _OWN_WAYS[opened.own_ways]
    return "" if len(matched(steps, arm, twin)) else f"No step finished both under {arm} and under {twin}."


_OWN_WAYS = {
    "agents": "Live agents decided what to send, so no two arms have the same requests: nothing is paired.",
    "load": "Under load each agent takes what comes, so no two arms have the same requests: nothing is paired.",
}


def condition_words(condition: str) -> str:
    """A condition as a choice says it: `4 agents`, `first 5 steps`, `drafter ngram`, `as planned`."""
    if (agents := agents_of(condition)) is not None:
        return counted(agents, "agent")
    if (steps := steps_of(condition)) is not None:
        return f"first {counted(steps, 'step')}"
    if method := method_of(condition):
        return f"drafter {method}"
    return "no drafter" if is_reference(condition) else condition or "as planned"


def notes_on(opened: Opened, steps: pd.DataFrame, arm: str) -> tuple[str, ...]:
    """What a reader of this arm's numbers should know: `steps` that failed, and the run's that followed a toggle."""
    mine = steps[steps["arm"] == arm]
    n_failed = int((~is_finished(mine)).sum())
    n_toggled = _toggled(opened, arm)
    said = []
    if n_failed:
        said.append(f"{n_failed} of {counted(len(mine), 'step')} under {arm} failed: in no time and no share.")
    if n_toggled:
        said.append(f"{counted(n_toggled, 'step')} came under {arm} by a toggle: in no share and in no pair.")
    return tuple(said)


def _toggled(opened: Opened, arm: str) -> int:
    return int((is_toggled(opened.sent) & (opened.sent["arm"] == arm)).sum())


def _missing(opened: Opened, steps: pd.DataFrame, layer: Layer) -> str:
    if not len(steps):
        end = f": {opened.info.note}" if opened.info.note else ""
        return sentence(f"No step of this run counts in an arm of the lab{end}")
    refused = {arm: words for arm, words in opened.view.refused.items() if layer in _layers(arm)}
    lost = "".join(f" {arm} was refused: {words}" for arm, words in refused.items())
    toggled = {arm: _toggled(opened, arm) for arm in arm_order(opened.sent["arm"]) if layer in arm_named(arm).layers}
    if toggled:
        came = listed([f"{counted(n, 'step')} under {arm}" for arm, n in toggled.items()])
        return f"{capital(NAMES[layer])} came on by a toggle alone: {came}, in no sum and in no pair.{lost}"
    return f"No arm of this run had {NAMES[layer]} on: it measured {listed(arm_order(steps['arm']))}.{lost}"


def _layers(arm: str) -> tuple[Layer, ...]:
    words = arm.split()
    return arm_named(words[0]).layers if words and arm_order(words[:1]) else ()
