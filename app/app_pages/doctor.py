"""What is wrong on this machine, or in a recording's prompts, and what to do about it."""

import streamlit as st
from labkit.doctor.records import Check, Report
from labkit.experiments.dashboard.doctor import AreaView, ByteCheck, areas, verdict
from labkit.experiments.dashboard.literal import literal

import loaders
import loaders.doctor as data

SHOW = {"fail": st.error, "warn": st.warning, "ok": st.success, "unknown": st.info}
ICONS = {
    "fail": ":red[:material/cancel:]",
    "warn": ":orange[:material/warning:]",
    "unknown": ":blue[:material/help:]",
    "ok": ":green[:material/check_circle:]",
}
EXTENTS = {"all": ICONS["ok"], "some": ICONS["warn"], "none": ":gray[:material/block:]"}
NO_RECORDING = "no recording"


def chosen() -> tuple[str, str | None, bool]:
    """The profile, a recording whose prompts are compared, and whether every byte of the weights is read."""
    left, middle, right = st.columns([2, 2, 2], vertical_alignment="bottom")
    profile = left.selectbox(
        "Profile", loaders.profiles(), key="profile", bind="query-params", help="What an engine needs depends on it."
    )
    recording = middle.selectbox(
        "Prompts of",
        [NO_RECORDING, *loaders.recordings()],
        key="recording",
        bind="query-params",
        help="A recording: does each request extend the one before?",
    )
    with right:
        thorough = whole_weights(data.to_compare(profile))
    return profile, None if recording == NO_RECORDING else recording, thorough


def whole_weights(check: ByteCheck) -> bool:
    """Whether every byte of the weights is read; of large ones the command that does it."""
    if check.here:
        return st.toggle(check.words, key="thorough", help="Compared with the checksums of when they were made.")
    st.caption(check.words)
    if check.command:
        st.code(check.command, language="bash", wrap_lines=True)
    return False


def page() -> None:
    """The verdict, then each area, what failed first."""
    profile, recording, thorough = chosen()
    report = data.report(profile, thorough)
    further = data.prompts(profile, recording) if recording else []
    status, words = verdict(report, further)
    SHOW[status](words, icon=None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Check again", key="again", icon=":material/refresh:", on_click=data.look_again)
        st.caption(f"Checked {data.when(report)}, at {report.checked[11:19]} UTC; it took {report.took_s:.1f} s.")
    for area in areas(report, further):
        show(area)
    can_be_run(report)
    st.caption("The same from a terminal, with an exit status for scripts:")
    words = f"labkit doctor --profile {profile}{f' --recording {recording}' if recording else ''}"
    st.code(words, language="bash")


def show(area: AreaView) -> None:
    """One area: what is to be done open, the rest in a list."""
    st.subheader(area.name[:1].upper() + area.name[1:], anchor=False)
    st.caption(area.about)
    for check in area.to_do:
        with st.container(border=True):
            in_full(check)
    if area.rest:
        st.markdown(
            "\n".join(f"- {ICONS[check.status]} **{check.name}**: {literal(check.found)}" for check in area.rest)
        )


def can_be_run(report: Report) -> None:
    """Every shipped profile: the arms that run here now, and what is in the way of the others."""
    if not report.runnable:
        return
    st.subheader("What can be run here", anchor=False)
    st.markdown(
        "\n".join(
            f"- {EXTENTS[each.extent]} **{literal(each.profile)}**: {literal(each.sentence)}"
            for each in report.runnable
        )
    )


def in_full(check: Check) -> None:
    """A check with why it matters and what to do."""
    st.markdown(f"{ICONS[check.status]} **{check.name}**: {literal(check.found)}")
    st.caption(check.why)
    if check.todo:
        st.markdown(check.todo)
    if check.command:
        st.code(check.command, language="bash", wrap_lines=True)


page()
