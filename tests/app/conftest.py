"""The app on an empty machine: its own store, state, models and recordings; no cache survives a test."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from synthetic import recording

from labkit.traffic.recording import save

APP = Path(__file__).parents[2] / "app" / "streamlit_app.py"


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch) -> Path:
    """Where everything of this test lives; has one recording, `tiny`, of four steps."""
    for variable in ("RUNS", "STATE", "MODELS", "DATA"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    save(recording(), tmp_path / "data" / "recordings" / "tiny.jsonl")
    st.cache_data.clear()
    st.cache_resource.clear()
    return tmp_path


@pytest.fixture
def app() -> AppTest:
    """The app, not yet run."""
    return AppTest.from_file(str(APP), default_timeout=30)
