"""The trajectory page: what is asked by its address, what was said as plain text, and every state in which a run is."""

from __future__ import annotations

import json

import pytest
import synthetic
import trajectories as made

from labkit.core.records import StepRecord
from labkit.store.runs import RunStore
from labkit.traffic.recording import save

PAGE = "app_pages/trajectory.py"


def look(app, **address: str):
    """The page at this address."""
    app.run()
    for name, value in address.items():
        app.query_params[name] = value
    app.switch_page(PAGE).run()
    assert not app.exception
    return app


def again(app):
    app.run()
    assert not app.exception
    return app


def words(app) -> str:
    kinds = ("markdown", "caption", "info", "warning", "error", "text", "code")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


def strip(app) -> dict:
    (chart,) = app.get("plotly_chart")
    assert chart.proto.alt
    return json.loads(chart.proto.spec)


def titles(app) -> list[str]:
    """The folded steps."""
    return [each.label for each in app.expander]


def test_an_empty_store_says_what_to_do(app):
    assert "No run yet" in words(look(app))
    assert not app.get("plotly_chart")


def test_the_first_step_is_unfolded_and_the_others_are_folded(app):
    made.replayed()
    look(app)
    assert "**4 steps** · 3,600 prompt tokens, **0%** cached · 80 generated" in words(app)
    assert "Turn 1 · act · read_file · 600 tokens: 0 cached, 600 computed · TTFT 0.60 s" in words(app)
    assert [title.split(" · ")[0] for title in titles(app)] == ["Turn 2", "Turn 3", "Turn 4"]
    assert "Repair it." in words(app)
    assert '{\n "path": "a.py"\n}' in words(app)
    assert "read_file took 0.25 s when it was recorded" in words(app)
    assert "The same as recorded." in words(app)
    assert len(app.get("chat_message")) == 4  # tools, system, user, reply


def test_the_system_prompt_and_the_tools_are_folded(app):
    made.replayed()
    look(app)
    assert "Be brief." not in words(app)
    app.toggle(key="all-1-1").set_value(True)
    assert "Be brief." in words(again(app))


def test_a_deep_link_leads_to_its_step_and_arm(app):
    run_id = made.replayed()
    made.replayed(("base",))
    look(app, run_id=run_id, arm="prefix+spec", recording="talk", agent="0", repeat="0", turn="4", condition="")
    assert app.selectbox(key="arm").value == "prefix+spec"
    assert app.selectbox(key="turn").value == 4
    assert "tool result, new in turn 4: 180 tokens: 0 cached, 180 computed; 919 characters" in words(app)
    assert "Turn 4 · evaluate · 1,200 tokens: 984 cached, 216 computed" in words(app)
    assert "reply: 20 tokens, 15 accepted from drafts in 5 rounds; TTFT 0.22 s, decode 1.00 s" in words(app)
    assert "all that was said before: 1,020 tokens: 984 cached, 36 computed" in words(app)
    drawn = strip(app)
    assert [bar["name"] for bar in drawn["data"]] == ["cached", "computed", "generated", "from drafts"]
    assert "<b>▸ 4 evaluate</b>" in drawn["layout"]["yaxis"]["ticktext"]


def test_an_address_that_is_wrong_leads_to_what_there_is(app):
    run_id = made.replayed()
    look(app, run_id=run_id, arm="spec", turn="77", agent="no", beside="nobody")
    assert app.selectbox(key="arm").value == "base"
    assert app.selectbox(key="turn").value == 1


def test_buttons_lead_to_the_neighbours(app):
    made.replayed()
    look(app)
    assert app.button(key="previous").disabled
    app.button(key="next").click()
    again(app)
    app.button(key="next").click()
    assert "Turn 3 · act" in words(again(app))
    app.button(key="previous").click()
    assert "Turn 2 · evaluate" in words(again(app))
    app.selectbox(key="turn").select(4)
    again(app)
    assert app.button(key="next").disabled


def test_another_run_with_fewer_steps_does_not_keep_the_step(app):
    long, short = made.replayed(turns=6), made.replayed(("base",), turns=2)
    look(app, run_id=long, arm="prefix+spec", turn="6")
    app.selectbox(key="run_id").select(short)
    again(app)
    assert app.selectbox(key="turn").value in (1, 2)


def test_a_folded_step_shows_its_messages_when_it_is_opened(app):
    made.replayed()
    look(app)
    assert "line 0 of" not in words(app)
    app.session_state["step-2"] = True
    again(app)
    assert "line 0 of **the** <b>file</b>" in [code.value for code in app.code][-1]
    assert "Show all 919 characters" in [toggle.label for toggle in app.toggle]


def test_what_a_tool_said_is_never_read_as_markdown(app):
    made.replayed()
    look(app, turn="2")
    assert not any("<b>" in element.value for element in [*app.markdown, *app.caption])
    assert any("<b>" in code.value for code in app.code)


def test_a_reply_that_differs_is_set_beside_the_recorded_one_and_the_other_arm(app):
    made.replayed(other=[("prefix+spec", 2)])
    look(app, arm="prefix+spec", turn="2")
    assert "It differs from the recorded reply. Below: the recorded one, from which the next turn goes on." in words(
        app
    )
    assert [text.value for text in app.text] == ["Something else.", "Said in turn 2."]
    assert "The same request under base: TTFT 0.80 s (here 0.20 s)" in words(app)
    assert "the text differs" in words(app)
    assert [code.value for code in app.code][-2:] == ["Something else.", "Said in turn 2."]


def test_a_run_from_before_replies_were_kept_says_so(app, machine):
    save(made.recording(), machine / "data" / "recordings" / "talk.jsonl")
    made.replayed(texts=False, kept=False, other=[("base", 1)])
    look(app)
    assert "made before replies were kept" in words(app)
    assert "The engine said something else; it was not kept." in words(app)


def test_a_recording_that_is_gone_leaves_tokens_and_times(app):
    made.replayed(kept=False)
    look(app, turn="2")
    assert "not in the run's folder" in words(app)
    assert "Turn 2 · evaluate · 800 tokens: 0 cached, 800 computed" in words(app)
    assert strip(app)["data"]


def test_a_failed_step_says_why(app):
    run = RunStore().create("replay", {"arms": ["base"]}, {})
    made.write(run, "base", 1, made.ELSE, recording="talk")
    failed = {**synthetic.failed("base", 2).to_dict(), "run": run.id, "agent": "0", "recording": "talk"}
    run.step(StepRecord.from_dict({**failed, "error": "HTTP 500 `no` [such](x)"}))
    run.finish("partial")
    look(app, turn="2")
    assert "This step failed: HTTP 500 \\`no\\` \\[such\\](x)" in words(app)
    assert "1 failed" in words(app)


def test_every_step_says_who_served_it_where_a_toggle_was_flipped(app):
    run = RunStore().create("live", {"arms": ["base"]}, {})
    for turn, arm, condition in (
        (1, "base", ""),
        (2, "prefix", "toggled from base"),
        (3, "prefix", "toggled from base"),
    ):
        made.write(run, arm, turn, made.ELSE, recording="talk", condition=condition)
    run.finish("done")
    look(app, run_id=run.id, arm="prefix", condition="toggled from base", recording="talk", turn="2")
    assert app.selectbox(key="turn").value == 2
    assert "served by base (1) and prefix (2)" in words(app)
    assert "Turn 2 · act · prefix" in words(app)
    assert titles(app)[0].startswith("Turn 1 · plan · base")


def test_a_second_jump_from_another_page_leads_to_the_planned_arm_too(app):
    run = RunStore().create("live", {"arms": ["base", "prefix"]}, {})
    made.write(run, "prefix", 1, made.ELSE, recording="talk")
    made.write(run, "base", 1, made.ELSE, recording="talk")
    made.write(run, "prefix", 2, made.ELSE, recording="talk", condition="toggled from base")
    run.finish("done")
    look(app, run_id=run.id, arm="prefix", recording="talk", turn="1")
    assert app.selectbox(key="arm").value == "prefix"
    app.switch_page("app_pages/doctor.py")
    look(app, run_id=run.id, arm="prefix", recording="talk", turn="2", condition="toggled from base")
    assert app.selectbox(key="arm").value == "base"
    assert "Turn 2 · act · prefix" in words(app)


def test_a_run_that_goes_on_is_followed_until_it_ends(app):
    run = RunStore().create("replay", {"arms": ["base"]}, {})
    made.write(run, "base", 1, made.ELSE, recording="talk")
    look(app)
    assert "**1 step**" in words(app)
    made.write(run, "base", 2, made.ELSE, recording="talk")
    assert "**2 steps**" in words(again(app))
    assert "This run goes on" in words(app)
    run.finish("done")
    assert "This run goes on" not in words(again(app))


def test_a_long_trajectory_is_paged(app):
    made.replayed(("base",), turns=120)
    look(app, turn="77")
    assert "Steps 76 to 100 of 120" in words(app)
    assert len(titles(app)) == 24
    drawn = strip(app)
    assert len(drawn["layout"]["yaxis"]["ticktext"]) == 60
    assert sum(len(bar["x"]) if isinstance(bar["x"], list) else 1 for bar in drawn["data"]) < 3500
    assert "turns 47 to 106 of 120" in drawn["layout"]["title"]["text"].replace("<br>", " ")


def test_a_run_with_nothing_but_warm_up_says_so(app):
    run = RunStore().create("replay", {"arms": ["base"]}, {})
    made.write(run, "base", 1, made.ELSE, recording="talk", warmup=True)
    run.finish("failed", "no engine")
    assert "no step that counts" in words(look(app))
    assert "It is failed: no engine" in words(app)


@pytest.mark.parametrize("agents", [100])
def test_one_of_many_agents_is_picked(app, agents):
    run = RunStore().create("interference", {"arms": ["base"]}, {})
    for agent in range(agents):
        made.write(run, "base", 1, made.ELSE, recording="talk", agent=str(agent), condition="agents=100")
    run.finish("done")
    look(app, agent="42")
    assert app.selectbox(key="agent").value == "42"
    assert len(app.selectbox(key="agent").options) == agents
