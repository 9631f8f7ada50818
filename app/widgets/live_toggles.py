"""The three toggles of the Live page. While a live run goes on they mean what it is to serve, in every tab."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import streamlit as st
from labkit.core.arms import LAYERS, Arm, arm_named
from labkit.experiments import live
from labkit.experiments.dashboard.live.wanted import Wanted

import loaders
import loaders.live as live_loaders
from widgets.runs import shown_run

TOGGLES = {
    "prefix_caching": ("Prefix caching", "Reuse the KV blocks of a prompt's beginning that was seen before."),
    "pd_split": ("Prefill/decode split", "Prefill and decode in processes of their own, so that neither waits."),
    "speculation": ("Speculation", "Draft several tokens cheaply, and let the model verify them together."),
}
FIRST = Arm(prefix_caching=True)  # what the toggles begin with: the layer whose effect is seen soonest
SEEN = "toggles_mean"
"""What the live run wanted when this tab looked last."""
OnFlip = Callable[[str], None]


def chosen_arm() -> Arm:
    """The arm that the toggles mean now."""
    return Arm(**{layer: bool(st.session_state.get(layer)) for layer in LAYERS})


def choose_arm(on_flip: OnFlip) -> Arm:
    """The three layers. `on_flip`: called with the layer that was flipped, before the page is drawn anew."""
    for layer in LAYERS:
        label, help_ = TOGGLES[layer]
        st.toggle(label, key=layer, help=help_, on_change=on_flip, args=(layer,), persist_state="session")
    return chosen_arm()


def follow(wanted: Wanted | None) -> None:
    """Before the toggles are drawn: what a live run wants, when that has changed; at first, what the shown run came
    to.
    """
    if has_changed(wanted):
        _mean(arm_named(wanted.arm), wanted)
    elif LAYERS[0] not in st.session_state:
        run_id = shown_run()
        _set((live_loaders.arm_of(run_id) if run_id else None) or FIRST)


def has_changed(wanted: Wanted | None) -> bool:
    """Whether a live run goes on and wants another arm than when this tab looked last."""
    return wanted is not None and wanted != st.session_state.get(SEEN)


def steer(layer: str) -> None:
    """The layer was flipped: a live run that goes on takes it for the next step; the others stay as it has them."""
    job = loaders.current_job()
    wanted = live_loaders.wanted(job)
    if wanted is None:
        return
    arm = dataclasses.replace(arm_named(wanted.arm), **{layer: bool(st.session_state[layer])})
    live.steer(wanted.job, arm)
    _mean(arm, live_loaders.wanted(job))


def _mean(arm: Arm, wanted: Wanted | None) -> None:
    _set(arm)
    st.session_state[SEEN] = wanted


def _set(arm: Arm) -> None:
    for layer in LAYERS:
        st.session_state[layer] = getattr(arm, layer)
