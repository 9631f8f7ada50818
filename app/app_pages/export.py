"""Take runs with you in the format of another tool, or share what you see by its address."""

import streamlit as st
from labkit.experiments.dashboard.files.downloads import OFFERS, Chosen, commands, guessed_bytes, size_words
from labkit.experiments.dashboard.files.sharing import addresses, reach
from labkit.experiments.dashboard.literal import literal

import widgets.export as downloads
from loaders import export as data

FORMATS = {offer.name: offer for offer in OFFERS}
NOTHING = "Choose a run and a format: the download is made when you ask for it."
CARRIES = "The address of a page carries what you see: the run, and what you chose there. Copy it and send it."
SAID = (
    "Prompts, replies and tool results are in the run folder alone, where the run kept them; no other format has them. "
    "Values that a command line or an address gives away as secrets are masked."
)


def pick_formats() -> list[str]:
    """Names of the formats, and what reads each."""
    picked = st.pills("Formats", list(FORMATS), selection_mode="multi", default=["csv"], key="formats",
                      help="Several become one .zip.", bind="query-params")  # fmt: skip
    st.markdown("\n".join(f"- **{FORMATS[name].label}**: {FORMATS[name].reads}" for name in picked))
    return list(picked)


def warn(runs: list[Chosen]) -> None:
    """Runs that are not whole."""
    for run in runs:
        if run.words:
            st.warning(f"{literal(run.label)}. {literal(run.words)}", icon=":material/info:")


def make(runs: list[Chosen], names: list[str], formats: list[str]) -> None:
    """Prepare, wait, download."""
    ready = downloads.prepared(names, formats)
    guess = size_words(guessed_bytes([run.version for run in runs], formats))
    if ready is None or ready.done:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Prepare again" if ready else "Prepare", key="prepare", icon=":material/inventory_2:",
                      on_click=downloads.prepare, args=(names, formats))  # fmt: skip
            st.caption(f"{guess[0].upper()}{guess[1:]}." if ready is None else "As the runs were when you pressed it.")
    if ready is not None and ready.done:
        downloads.download(ready, size_words(ready.size))
    elif ready is not None:
        downloads.being_made(ready)
    st.caption("The same from a terminal:")
    st.code("\n".join(commands(names, formats)), language="bash", wrap_lines=True)


def export() -> list[str]:
    """Runs and formats, and the download of them; the names of the runs."""
    labels = downloads.pick_runs()
    if labels is None:
        return []
    names, formats = list(labels), pick_formats()
    if not names or not formats:
        st.info(NOTHING, icon=":material/touch_app:")
        return names
    runs = data.all_chosen(names, labels)
    warn(runs)
    make(runs, names, formats)
    st.caption(SAID)
    return names


def share(run: str) -> None:
    """Links to the pages that show this run, and who can open them."""
    st.subheader("Share this view")
    st.markdown(
        "The address of a page carries what you see: the run, and what you chose on the page. Copy it and send it."
    )
    shown = addresses(str(st.context.url or ""), run)
    for each in shown:
        link = {"label": f"{each.title}: {each.shows}", "query_params": {"run_id": run}}
        st.page_link(f"app_pages/{each.page}.py", icon=":material/link:", **link)
    with st.expander("The addresses, to copy"):
        st.code("\n".join(each.address for each in shown), language=None, wrap_lines=True)
    st.caption(reach(st.get_option("server.address"), data.examples(), run))


names = export()
if names:
    share(names[0])
