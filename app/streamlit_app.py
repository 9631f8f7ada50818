"""The dashboard's router and picture frame: pages, their order, the title above each. `streamlit run app`."""

from pathlib import Path

import streamlit as st

ICON = Path(__file__).parent / "icon.svg"  # a file, since a named icon would be fetched from a font server

LIVE = st.Page(
    "app_pages/live.py",
    title="Live comparison",
    icon=":material/toggle_on:",
    url_path="live",
    default=True,
)

st.set_page_config(page_title="Agentic Inference Lab", page_icon=str(ICON), layout="wide")
page = st.navigation([LIVE], position="top")
st.title(page.title)
page.run()
