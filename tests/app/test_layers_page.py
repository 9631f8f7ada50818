"""The Layers page with every kind of run: a section says what its layer did, what is missing, and what to do."""

from __future__ import annotations

import json

import layer_runs
import pytest
from layer_runs import counters, step, steps
from run_folders import started, write
from synthetic import failed

from labkit.core.paths import runs_dir

SPLIT, SPEC = "Prefill/decode split", "Speculation"


def at_layers(app, layer: str | None = None, **query: str):
    """The page, with this tab and these choices in its address."""
    app.run()
    app.switch_page("app_pages/layers.py")
    for name, value in {**({"layer": layer} if layer else {}), **query}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def a_run(rows, *events, **more):
    return layer_runs.opened(runs_dir(), rows, events, **more)


def words(app) -> str:
    kinds = ("markdown", "caption", "info", "warning", "error", "code")
    return "\n".join(element.value for kind in kinds for element in getattr(app, kind))


def titles(app) -> list[str]:
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]


def test_an_empty_store_says_what_to_do(app):
    assert "labkit run quick" in words(at_layers(app))


def test_prefix_caching_says_what_it_saved_and_where_tokens_were_lost(app):
    rows = steps("base", "prefix", turns=4)
    rows[-1] = step("prefix", 4, cached_tokens=984 - 64)
    a_run(rows, ("serving", {"arm": "prefix", "repeat": 0, "block_size": 32}))
    at = at_layers(app)
    assert at.markdown[0].value.startswith(
        "##### Under prefix, 64 % of the prompt tokens came from the cache, of the 66 %"
    )
    assert "**evicted** (64 tokens)" in words(at)
    assert {metric.label: metric.value for metric in at.metric}["Hit rate"] == "64 %"
    assert len(titles(at)) == 4
    table = at.dataframe[0].value
    assert (table["turn"][0], table["lost"][0], table["why"][0]) == (4, 80, "evicted")
    assert all(chart.proto.alt for chart in at.get("plotly_chart"))


def test_what_was_lost_in_warm_passes_is_read_in_warm_passes(app):
    rows = [
        step(arm, turn, cache=cache, t_send=later, **({"cached_tokens": 64} if arm == "prefix" and turn == 4 else {}))
        for cache, later in (("cold", 0.0), ("warm", 90.0)) for arm in ("base", "prefix") for turn in range(1, 5)
    ]  # fmt: skip
    a_run(rows)
    at = at_layers(app, cache="warm")
    (link,) = [link.proto for link in at.get("page_link") if "which lost most" in link.proto.label]
    assert "cache=warm" in link.query_string
    table = at.dataframe[0]
    assert table.proto.alt


def test_only_the_open_section_is_worked_out_and_the_tab_is_in_the_address(app):
    a_run(steps("base", "prefix", "spec"), spec_method="ngram")
    at = at_layers(app, SPEC)
    assert "Under spec, ngram drafted 200 tokens, of which 75 % were accepted" in words(at)
    assert "Under prefix" not in words(at)


def test_the_split_says_what_it_moved_what_failed_and_where_it_cannot_win(app):
    grown = {"transfers": 4, "transfer_bytes": 4_000_000, "transfer_s": 0.04, "transfer_failures": 0}
    binds = {"prefill": "0", "decode": "1,0"}
    processes = [{"role": role, "env": {"LABKIT_VLLM_CPU_BIND": cores}} for role, cores in binds.items()]
    fingerprint = {"kv_bytes_per_token": 1000, "engines": {"pd": {"processes": processes}}}
    rows = [*steps("base", "pd", turns=4, transfer_s=0.01), failed("pd", 5)]
    a_run(rows, counters("pd", decode=grown), fingerprint=fingerprint)
    at = at_layers(app, SPLIT)
    assert "4 transfers moved 1 MB each in 10.0 ms (means), and none failed" in words(at)
    assert "The split is not expected to win on this machine" in at.warning[0].value
    assert "**1** of 5 requests that broke off" in words(at)
    assert "**–** prompts whose KV expired" in words(at)
    assert len(titles(at)) == 3


@pytest.mark.parametrize("layer", [SPLIT, SPEC])
def test_a_layer_that_no_arm_had_says_which_arms_to_run(app, layer):
    a_run(steps("base", "prefix"))
    at = at_layers(app, layer)
    assert "No arm of this run had" in at.info[0].value
    assert at.code[0].value == f"labkit replay tiny --arms base,{'pd' if layer == SPLIT else 'spec'}"
    assert not titles(at)


@pytest.mark.parametrize(
    ("layer", "arm", "figures"), [("Prefix caching", "prefix", 3), (SPLIT, "pd", 1), (SPEC, "spec", 3)]
)
def test_without_the_twin_what_there_is_is_shown_without_empty_axes(app, layer, arm, figures):
    a_run(steps(arm, transfer_s=0.01), counters(arm, engine={"drafts": 4, "accepted_per_position": [3, 2]}))
    at = at_layers(app, layer)
    assert "base was not measured in this run" in words(at)
    assert at.code[0].value == f"labkit replay tiny --arms base,{arm}"
    assert len(titles(at)) == figures


@pytest.mark.parametrize("layer", ["Prefix caching", SPLIT, SPEC])
def test_an_attached_engine_that_told_nothing_has_dashes(app, layer):
    told = ("cached_tokens", "prefill_s", "drafted_tokens", "accepted_tokens", "drafts", "transferred_tokens")
    arm = {SPLIT: "pd", SPEC: "spec"}.get(layer, "prefix")
    a_run(steps("base", arm, **dict.fromkeys(told)), fingerprint={"engines": {arm: "http://127.0.0.1:9"}})
    at = at_layers(app, layer)
    assert "–" in [metric.value for metric in at.metric]


def test_several_drafters_are_shown_together_and_one_can_be_chosen(app):
    rows = [
        step(arm, turn, condition=f"method={name}")
        for arm, name in (("base", "none"), ("spec", "ngram"), ("spec", "suffix")) for turn in range(1, 6)
    ]  # fmt: skip
    a_run(rows, experiment="speculation", arm="spec", arms=None)
    at = at_layers(app, SPEC)
    assert "ngram had 75 % accepted" in words(at)
    assert at.selectbox(key="condition").options == ["everything", "drafter ngram", "drafter suffix"]
    at.selectbox(key="condition").select("method=suffix").run()
    assert not at.exception
    assert "Under spec, suffix drafted 200 tokens" in words(at)


def test_levels_of_load_are_lines_and_a_moment(app):
    rows = [
        step(arm, turn, condition=f"agents={agents}", agent=f"{agent}", t_send=10.0 * agents)
        for arm in ("prefix", "prefix+pd") for agents in (1, 2) for agent in range(agents) for turn in range(1, 4)
    ]  # fmt: skip
    windows = [
        ("window", {"arm": arm, "condition": f"agents={agents}", "repeat": 0, "agents": agents, "start": 0.0,
                    "end": 60.0, "close": 60.0, "sent": 3 * agents, "cut": False, "gaps": False})
        for arm in ("prefix", "prefix+pd") for agents in (1, 2)
    ]  # fmt: skip
    a_run(rows, *windows, experiment="interference", agents=[1, 2])
    at = at_layers(app, SPLIT)
    assert "With 2 agents the first token came after" in words(at)
    assert "nothing is paired" in words(at)
    assert "in company?" in " ".join(titles(at))


def test_steps_that_failed_or_were_toggled_are_told(app):
    rows = [*steps("base", "prefix", turns=3), failed("prefix", 4), step("prefix", 5, condition="toggled from base")]
    a_run(rows)
    said = words(at_layers(app))
    assert "1 of 4 steps under prefix failed" in said
    assert "1 step came under prefix by a toggle" in said


def test_an_arm_of_the_address_that_the_layer_does_not_have_gives_the_first(app):
    a_run(steps("base", "prefix", "spec", "prefix+spec"))
    at = at_layers(app, SPEC, arm="prefix")
    assert at.selectbox(key="arm").value == "spec"
    at.selectbox(key="arm").select("prefix+spec").run()
    assert "Under prefix+spec" in words(at)


def test_an_address_that_is_opened_again_means_the_same_again(app):
    a_run(steps("base", "spec", "prefix+spec"))
    at = at_layers(app, SPEC, arm="prefix+spec")
    at.switch_page("app_pages/export.py").run()
    del at.query_params["arm"]
    at = at_layers(app, SPEC, arm="prefix+spec")
    assert at.selectbox(key="arm").value == "prefix+spec"
    assert at.query_params["arm"] in ("prefix+spec", ["prefix+spec"])


def test_a_run_in_which_all_failed_is_a_sentence(app):
    a_run([failed("base", 1), failed("prefix", 1)])
    at = at_layers(app)
    assert "1 of 1 step under prefix failed" in words(at)


def test_a_run_that_goes_on_says_that_a_layer_may_come_yet(app):
    with started(["base", "prefix"]) as writer:
        write(writer, steps("base", turns=2))
        at = at_layers(app)
        assert "No arm of this run had prefix caching on: it measured base." in words(at)
        assert "appears here with the layer's first step" in words(at)
        write(writer, steps("prefix", turns=2))
        at.run()
        assert not at.exception
        assert "over the 2 steps that base finished, too (too few to tell)" in words(at)
