"""A price, and an input for each figure that it is made of: empty is as listed, a number is somebody's own."""

from __future__ import annotations

import streamlit as st
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.money.prices import Edits, FigureInput, known_edits
from streamlit.delta_generator import DeltaGenerator

from loaders import capacity as data
from widgets import addressed


def choose_price(profile: str) -> str:
    """A name of the list of prices; those of the run's own machine come first."""
    labels = {choice.name: choice.label for choice in data.choices(profile)}
    words = "What the machine costs: `data/prices.toml`."
    return addressed.pick("Price", list(labels), "price", labels.__getitem__, help=words)


def edit(price: str) -> Edits:
    """An input for each figure; an empty one is as listed."""
    with st.expander("Change what this price rests on", icon=":material/edit:"):
        st.caption("What you put in stays in this tab and in the address of the page; the list is not changed.")
        figures = data.inputs(price)
        left, right = st.columns(2)
        values = [(figure.name, edited(figure, (left, right)[n % 2])) for n, figure in enumerate(figures)]
        st.button("As listed again", key="as_listed", on_click=forget, args=([figure.name for figure in figures],))
    return known_edits(values)


def edited(figure: FigureInput, place: DeltaGenerator) -> float | None:
    """One figure, with who says the listed value."""
    value = place.number_input(figure.label, value=None, placeholder=f"{figure.listed:g}", key=figure.name,
                               format="%g", bind="query-params")  # fmt: skip
    place.caption(literal(figure.origin))
    return value


def forget(names: list[str]) -> None:
    """Empty the inputs."""
    for name in names:
        st.session_state[name] = None
