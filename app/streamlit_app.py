"""The dashboard's router and picture frame: pages, their order, the title above each. `streamlit run app`."""

from pathlib import Path

import streamlit as st
from labkit.core.errors import LabError

import widgets.frame

ICON = Path(__file__).parent / "icon.svg"  # a file, since a named icon would be fetched from a font server

HOME = "home"  # a default page lives at `/`, and keeps its own path from others

PAGES = [
    st.Page(
        f"app_pages/{name}.py",
        title=title,
        icon=f":material/{icon}:",
        url_path=HOME if name == "live" else name,
        help=about,
        default=name == "live",
    )
    for name, title, icon, about in (
        ("live", "Live", "toggle_on", "Toggle the three layers, run, and watch each agent's steps as they happen."),
        ("compare", "Compare", "balance", "Put runs side by side: what each layer gains, with intervals, in words."),
        ("layers", "Layers", "layers", "One layer at a time: hits and losses, transfers, accepted drafts."),
        ("trajectory", "Trajectory", "forum", "One agent's steps as a conversation, token by token."),
        ("engines", "Engines", "memory", "What is up, its commands and logs; start and stop engines."),
        ("capacity", "Capacity and cost", "payments", "Agents that fit an objective, and what a task costs."),
        ("doctor", "Doctor", "stethoscope", "What is wrong on this machine or in a prompt, and what to do."),
        ("export", "Export", "download", "Take a run with you, in the format of another tool."),
    )
]


def live() -> None:
    """`/live` leads to the first page, which lives at `/`; what the address chose goes with it."""
    st.switch_page(PAGES[0], query_params={name: st.query_params.get_all(name) for name in st.query_params})


st.set_page_config(page_title="Agentic Inference Lab", page_icon=str(ICON), layout="wide")
page = st.navigation([*PAGES, st.Page(live, url_path="live", visibility="hidden")], position="top")
st.title(page.title, anchor=False, help=page.help)
try:
    page.run()
except LabError as error:  # said on purpose, to whoever looks: its words, and what to do
    widgets.frame.refused(error)
widgets.frame.footer()
