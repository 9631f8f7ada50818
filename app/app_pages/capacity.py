"""How many agents fit under an objective that can be moved, and what a task costs at a price that can be changed."""

import streamlit as st
from labkit.core.errors import LabError
from labkit.experiments.attached.kept import profile_of
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.money.capacity import LEVELS, CapacityView, Sliders, ask_for_it, sliders
from labkit.experiments.dashboard.money.costs import COLUMNS, MEANINGS, Costed, CostsView
from labkit.plots.capacity import capacity_figure
from labkit.plots.cost import cost_figure
from labkit.plots.per_million import MEASURES, per_million_figure

import loaders
import widgets
from loaders import capacity as data
from widgets import addressed
from widgets.following import follow
from widgets.prices import choose_price, edit
from widgets.runs import pick_run

UNASKED = "any"
CHANCE = "Is the difference more than chance? See Compare"
NO_LOAD = (
    "This run measured no level of load: its agents came one at a time, or no window was over. How many fit is found "
    "by a search of its own, from a terminal:"
)


def objective(found: Sliders) -> tuple[float, float, float, float | None]:
    """The sliders; they stand at first at what the run was asked about."""
    one, two, three, four = st.columns(4)
    ttft = one.select_slider("TTFT at most (s)", found.ttft, found.asked.ttft_s, "{:g}".format, key="ttft",
                             help="Time to first token of a request.", bind="query-params")  # fmt: skip
    itl = two.select_slider("ITL p99 at most (s)", found.itl, found.asked.itl_s, "{:g}".format, key="itl",
                            help="99 % of the gaps between a reply's chunks.", bind="query-params")  # fmt: skip
    paces = (UNASKED, *(f"{value:g}" for value in found.itl))
    tpot = three.select_slider("TPOT at most (s)", paces, UNASKED, key="tpot", bind="query-params",
                               help="Time per generated token after the first.")  # fmt: skip
    most = min(99.9, 100 * found.asked.share)
    share = four.slider("Requests that must keep it (%)", 50.0, 99.9, most, 0.1, "%.1f", key="share",
                        help="Of all that were sent; with 99 % it is TTFT p99.", bind="query-params")  # fmt: skip
    return ttft, itl, round(share / 100, 6), None if tpot == UNASKED else float(tpot)


def agents_that_fit(run_id: str) -> None:
    """Sliders, and what they lead to."""
    info = loaders.opened(run_id).info
    if data.served(run_id) is None:
        st.info(NO_LOAD, icon=":material/groups:")
        st.code(ask_for_it(info), language="bash", wrap_lines=True)
        return
    found = sliders(info)
    asked = objective(found)
    if found.own:
        st.caption(f"This run was asked about: {found.asked}.")
    view = data.answered(run_id, *asked)
    if view is not None:
        answer(view)


def answer(view: CapacityView) -> None:
    """The sentence, a tile for each arm, the curve, the levels."""
    st.markdown(f"**{view.sentence}**")
    with st.container(horizontal=True):
        for each in view.answers:
            st.metric(each.arm, each.tile, help=each.words, border=True, width=210)
    for each in view.answers:
        if each.doubt:
            st.caption(f":material/help: {each.arm}: {each.doubt}.")
    widgets.figure(view.info, capacity_figure, "capacity_curve")
    with st.expander("Every level that was tried"):
        st.dataframe(columns(LEVELS, view.cells), hide_index=True, key="levels", alt="Levels of load")


def columns(names: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> dict[str, list[str]]:
    """Rows of text as the columns of a table."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def cost(run_id: str) -> None:
    """What the run cost at the chosen price, with the edits."""
    price = choose_price(profile_of(loaders.opened(run_id).info))
    edits = edit(price)
    try:
        found = data.costed(run_id, price, edits)
    except LabError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    st.caption(literal(f"{found.price}: {found.an_hour}; rests on {found.resting_on}."))
    if found.elsewhere:
        st.caption(f":material/warning: {literal(found.elsewhere)}")
    if found.empty:
        st.info(found.empty, icon=":material/payments:")
        return
    view = choose_view(found.views)
    spent(found, view)
    if len(view.cells) > 1 and not found.verdict:
        st.page_link("app_pages/compare.py", label=CHANCE, icon=":material/balance:", query_params={"run_id": run_id})


def choose_view(views: tuple[CostsView, ...]) -> CostsView:
    """One load and cache state, where there are several."""
    condition = choose("Load", "condition", [view.condition for view in views], "What was varied besides the arm.")
    left = [view for view in views if view.condition == condition]
    cache = choose(
        "Cache", "cache", [view.cache for view in left], "Whether an earlier pass had left the same prompts."
    )
    return next(view for view in left if view.cache == cache)


def choose(label: str, key: str, options: list[str], why: str) -> str:
    """One of them; nothing is asked where there is no choice."""
    different = list(dict.fromkeys(options))
    if len(different) == 1:
        return different[0]
    return addressed.pick(label, different, key, lambda name: name or "nothing varied", help=why)


def spent(found: Costed, view: CostsView) -> None:
    """Sentence, figures, table, remarks."""
    st.markdown(f"**{literal(view.sentence)}**")
    if found.verdict:
        st.markdown(found.verdict)
    left, right = st.columns(2)
    with left:
        widgets.figure(view.per_task, cost_figure, "cost_per_task")
    with right:
        tokens = st.segmented_control("A million tokens of which kind?", MEASURES, default=MEASURES[-1], required=True,
                                      key="tokens", bind="query-params")  # fmt: skip
        widgets.figure(view.per_million[tokens], per_million_figure, "cost_per_million")
    config = {name: st.column_config.TextColumn(name, help=why) for name, why in zip(COLUMNS, MEANINGS, strict=True)}
    st.dataframe(columns(COLUMNS, view.cells), column_config=config, hide_index=True, key="costs", alt="Costs by arm")
    with st.expander("What must be kept in mind", icon=":material/info:"):
        st.markdown("\n".join(f"- {literal(remark)}" for remark in found.remarks))


def page() -> None:
    """The run, its load, its cost; each answers its own inputs alone."""
    run_id = pick_run()
    if run_id is None:
        return
    widgets.run_state(loaders.run_view(run_id))
    st.subheader("How many agents fit?")
    st.fragment(agents_that_fit)(run_id)
    st.subheader("What did it cost?")
    st.fragment(cost)(run_id)
    follow(run_id)


page()
