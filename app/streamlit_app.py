"""The dashboard's router and picture frame: pages, their order, the title above each. `streamlit run app`."""

from pathlib import Path

import streamlit as st

ICON = Path(__file__).parent / "icon.svg"  # a file, since a named icon would be fetched from a font server

LIVE = st.Page("app_pages/live.py", title="Live", icon=":material/toggle_on:", url_path="live", default=True)
COMPARE = st.Page("app_pages/compare.py", title="Compare", icon=":material/balance:", url_path="compare")
LAYERS = st.Page("app_pages/layers.py", title="Layers", icon=":material/layers:", url_path="layers")
TRAJECTORY = st.Page("app_pages/trajectory.py", title="Trajectory", icon=":material/forum:", url_path="trajectory")
ENGINES = st.Page("app_pages/engines.py", title="Engines", icon=":material/memory:", url_path="engines")
CAPACITY = st.Page("app_pages/capacity.py", title="Capacity and cost", icon=":material/payments:", url_path="capacity")
DOCTOR = st.Page("app_pages/doctor.py", title="Doctor", icon=":material/stethoscope:", url_path="doctor")
EXPORT = st.Page("app_pages/export.py", title="Export", icon=":material/download:", url_path="export")
PAGES = [LIVE, COMPARE, LAYERS, TRAJECTORY, ENGINES, CAPACITY, DOCTOR, EXPORT]

st.set_page_config(page_title="Agentic Inference Lab", page_icon=str(ICON), layout="wide")
page = st.navigation(PAGES, position="top")
st.title(page.title)
page.run()
