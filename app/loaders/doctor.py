"""What the Doctor page shows: a look at the machine is kept for a few minutes, until somebody asks for another."""

from __future__ import annotations

import streamlit as st
from labkit.core.clock import SystemClock
from labkit.doctor.records import Check, Report
from labkit.experiments import check_up
from labkit.experiments.dashboard.doctor import ByteCheck, ago, byte_check


@st.cache_data(ttl="5m", max_entries=8, show_spinner="Looking at this machine")
def report(profile: str, thorough: bool) -> Report:
    """Every check of this machine under a profile."""
    return check_up.check_up(profile, thorough=thorough)


@st.cache_data(ttl="5m", max_entries=20, show_spinner="Comparing the prompts")
def prompts(profile: str, recording: str) -> list[Check]:
    """The checks of a recording's prompts."""
    return check_up.prompts(profile, recording)


@st.cache_data(ttl="5m", max_entries=8)
def to_compare(profile: str) -> ByteCheck:
    """Whether the page may compare every byte of this profile's weights."""
    return byte_check(profile, check_up.bytes_to_compare(profile))


def look_again() -> None:
    """Forget what was seen."""
    report.clear()
    prompts.clear()


def when(seen: Report) -> str:
    """How long ago it was checked."""
    return ago(seen.checked, SystemClock().wall())
