"""The split in words and numbers: what it cost, what it moved, what failed, and where it cannot win."""

from __future__ import annotations

from typing import Any

import pytest
from layer_runs import counters, opened, step, steps

from labkit.core.arms import arm_named
from labkit.engines.plan import make_plan
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.dashboard.layers.halves import Halves, halves, verdict, where
from labkit.experiments.dashboard.layers.load import heaviest_load, load_facts, load_words
from labkit.experiments.dashboard.layers.rows import layer_here
from labkit.experiments.dashboard.layers.split import split_section
from labkit.experiments.dashboard.layers.split_words import megabytes
from labkit.experiments.dashboard.layers.transfers import Moved, moved

DECODE = {"transfers": 5, "transfer_bytes": 50_000_000, "transfer_s": 0.05, "transfer_failures": 1,
          "prompt_transferred": 5000, "prompt_computed": 3}  # fmt: skip
PREFILL = {"transfers": 0, "transfers_expired": 2, "prompt_computed": 5000}


def halved(env: str, prefill: str, decode: str) -> dict[str, Any]:
    processes = [{"role": "prefill", "env": {env: prefill}}, {"role": "decode", "env": {env: decode}}]
    return {"engines": {"plain": {"processes": [{"role": "engine", "env": {}}]}, "split": {"processes": processes}}}


def slowed(arm: str, turn: int, by: float = 1.0, **changes: Any):
    """A step whose time to the first token is `by` times turn seconds."""
    first = by * turn
    return step(arm, turn, t_first_token=first, t_first_visible=first, t_last=first + 2, t_end=first + 2, **changes)


def facts(section) -> dict[str, tuple[str, str]]:
    return {fact.label: (fact.value, fact.note) for fact in section.facts}


def test_the_sentence_says_what_it_cost_and_what_it_moved(tmp_path):
    rows = [slowed(arm, turn, by) for arm, by in (("base", 1), ("pd", 2)) for turn in range(1, 6)]
    section = split_section(
        opened(tmp_path, rows, [counters("pd", prefill=PREFILL, decode=DECODE)]), "pd", "cold", None
    )
    assert section.finding.startswith("Under pd, the first token took 2.00x as long as under base (too few to tell); ")
    assert section.finding.endswith("5 transfers moved 10 MB each in 10.0 ms (means), and 1 failed.")
    assert facts(section)["First-token gain"] == ("0.50x", "too few to tell")
    assert facts(section)["Longest-gap gain"][0] == "1.00x"
    assert facts(section)["Time per transfer"] == ("10.0 ms", "1,000 MB/s")
    assert facts(section)["Transfers failed"] == ("1", "20 % of them")
    told = {one.what: (one.n, one.of) for one in section.troubles}
    assert told == {
        "transfers that failed": (1, 5),
        "prompts whose KV expired": (2, None),
        "prompt tokens computed again by decode": (3, 5000),
        "requests that broke off": (0, 5),
    }
    assert section.lines[0].with_s == (2.0, 4.0, 6.0, 8.0, 10.0)
    assert section.lines[0].without_s == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert section.lines[1].with_s == pytest.approx((2 / 19,) * 5)


def test_only_passes_of_the_arm_that_count_are_summed(tmp_path):
    events = [counters("pd", decode=DECODE), counters("pd", repeat=7, decode=DECODE), counters("base", engine=DECODE)]
    run = opened(tmp_path, steps("base", "pd"), events)
    assert moved(run.events, run.counted, "pd").transfers == 5


def test_an_engine_without_counters_has_nulls_and_says_so(tmp_path):
    section = split_section(opened(tmp_path, steps("base", "pd")), "pd", "cold", None)
    assert facts(section)["Transfers failed"] == ("–", "not counted")
    assert facts(section)["KV per transfer"] == ("–", "not counted")
    assert [one.n for one in section.troubles] == [None, None, None, 0]
    assert "MoRI-IO has none" in section.transfers.caption.empty
    assert section.cannot == section.where == ""


def test_the_one_page_of_an_engine_that_hides_its_halves_is_read(tmp_path):
    run = opened(tmp_path, steps("pd"), [counters("pd", engine=DECODE)])
    found = moved(run.events, run.counted, "pd")
    assert (found.transfers, found.expired, found.recomputed) == (5, None, None)


def test_each_step_has_its_bytes_where_a_tokens_kv_is_known(tmp_path):
    rows = [step("pd", turn, transfer_s=0.01 * turn) for turn in (1, 2)]
    run = opened(tmp_path, rows, fingerprint={"kv_bytes_per_token": 10_000})
    info = split_section(run, "pd", "cold", None).transfers
    assert (info.unit, info.sizes, info.ms) == ("MB", (6.0, 8.0), (10.0, 20.0))
    assert info.rate == pytest.approx(14 / 0.03)


def test_what_broke_off_is_told_with_the_words_of_its_errors(tmp_path):
    rows = [step("pd", turn, error="HTTP 500: no KV", t_end=None) for turn in (1, 2)] + [step("pd", 3)]
    broken = split_section(opened(tmp_path, rows), "pd", "cold", None).troubles[3]
    assert (broken.n, broken.of, broken.words) == (2, 3, "HTTP 500: no KV (2 times)")


def test_an_engine_that_died_is_among_the_failures(tmp_path):
    events = [("serving", {"arm": "pd", "repeat": 0}), ("engine_died", {"arm": "pd", "repeat": 0, "message": "killed"})]
    section = split_section(opened(tmp_path, steps("pd"), events), "pd", "cold", None)
    assert (section.troubles[-1].what, section.troubles[-1].words) == ("engine that died", "killed")


@pytest.mark.parametrize(
    ("fingerprint", "shared", "words"),
    [
        (halved("LABKIT_VLLM_CPU_BIND", "0", "1,0"), True, "prefill has 1 core where an undivided engine has 2"),
        (
            halved("VLLM_CPU_OMP_THREADS_BIND", "0-3", "4-7"),
            False,
            "not expected to win on this machine: prefill has 4 cores",
        ),
        (halved("HIP_VISIBLE_DEVICES", "0,1", "2,3"), False, ""),
        (halved("HIP_VISIBLE_DEVICES", "0,1", "1,0"), True, "GPUs 0 and 1 are decode's as well"),
    ],
)
def test_whether_the_split_can_win_follows_from_what_its_halves_compute_on(fingerprint, shared, words):
    found = halves(fingerprint)
    assert found is not None
    assert found.shared is shared
    assert words in verdict(found)
    assert bool(verdict(found)) is bool(words)


def test_nothing_is_expected_against_what_was_measured(tmp_path):
    """Eight tasks in four starts of each: the first token comes sooner under pd, on cores that the halves share."""

    def run(by: float):
        rows = [slowed(arm, turn, factor, task=f"t{task}", repeat=repeat, engine=f"{arm}-{repeat}")
                for arm, factor in (("base", 1.0), ("pd", by)) for task in range(8) for repeat in range(4)
                for turn in range(1, 4)]  # fmt: skip
        binds = halved("LABKIT_VLLM_CPU_BIND", "0", "1,0")
        return split_section(opened(tmp_path, rows, fingerprint=binds), "pd", "cold", None)

    won, lost = run(0.5), run(2.0)
    assert facts(won)["First-token gain"] == ("2.00x", "better")
    assert won.cannot == ""
    assert lost.cannot.startswith("The split is not expected to win on this machine: prefill has 1 core")


def test_a_layer_that_came_on_by_a_toggle_alone_is_told_and_not_summed(tmp_path):
    toggled = [step("pd", turn, condition="toggled from base") for turn in (3, 4)]
    here = layer_here(opened(tmp_path, [*steps("base", turns=2), *toggled]), "pd_split")
    assert here.arms == ()
    assert here.missing.startswith("The prefill/decode split came on by a toggle alone: 2 steps under pd")
    both = split_section(opened(tmp_path, [*steps("base", "pd", turns=2), *toggled]), "pd", "cold", None)
    assert "2 steps came under pd by a toggle: in no share and in no pair." in both.notes


@pytest.mark.parametrize("fingerprint", [{}, {"engines": {"pd": "http://127.0.0.1:8000"}}, {"engines": None}])
def test_what_an_attached_engine_computes_on_is_not_guessed(fingerprint):
    assert halves(fingerprint) is None
    assert verdict(None) == where(None) == ""


@pytest.mark.parametrize("name", list_profiles())
def test_the_plans_of_every_profile_say_what_their_halves_compute_on(name):
    plan = make_plan(load_profile(name), arm_named("pd"))
    found = halves({"engines": {"pd": {"processes": [process.to_dict() for process in plan.layout]}}})
    assert found is not None
    one_gpu = load_profile(name).machine.gpus == 1
    assert found.shared is (found.unit == "core" or one_gpu)


def test_where_it_ran_is_said_in_words():
    assert where(Halves(unit="core", prefill=("0",), decode=("1", "0"))) == "prefill on core 0; decode on cores 1 and 0"


def load_rows(**more: Any):
    import pandas as pd

    rows = [
        {"arm": arm, "agents": agents, "ttft_p50_s": 0.1 * agents * by, "itl_p99_s": 0.3 / by, "too_few": False,
         "n_agent_runs": 6, **more}
        for arm, by in (("prefix", 1), ("prefix+pd", 2)) for agents in (1, 4, 8) if (arm, agents) != ("prefix", 8)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_under_load_the_heaviest_level_that_both_had_is_told():
    heaviest = heaviest_load(load_rows(), "prefix+pd", "prefix")
    assert load_words(heaviest, "prefix+pd") == (
        "with 4 agents the first token came after 800 ms under prefix+pd and 400 ms under prefix (median), and the "
        "longest gaps were 150 ms under prefix+pd and 300 ms under prefix (p99)"
    )
    first, gaps = load_facts(heaviest, "prefix+pd")
    assert (first.value, first.note) == ("800 ms", "prefix: 400 ms")
    assert (gaps.value, gaps.note) == ("150 ms", "prefix: 300 ms")
    assert load_words(heaviest_load(load_rows(too_few=True), "prefix+pd", "prefix"), "prefix+pd").endswith(
        "; too few to tell"
    )


def test_under_load_an_arm_without_its_twin_is_told_alone():
    rows = load_rows()
    heaviest = heaviest_load(rows[rows["arm"] == "prefix+pd"], "prefix+pd", "prefix")
    assert load_words(heaviest, "prefix+pd").startswith(
        "with 8 agents the first token came after 1.60 s under prefix+pd"
    )
    assert load_facts(heaviest, "prefix+pd")[0].note == "with 8 agents"
    assert load_words({}, "prefix+pd") == ""
    assert load_facts({}, "prefix+pd") == ()


def test_means_of_nothing_are_unknown():
    assert Moved().bytes_each is Moved(transfers=0, transfer_bytes=0).bytes_each is None
    assert (megabytes(None), megabytes(38_400_000), megabytes(1_633_000_000)) == ("–", "38.4 MB", "1,633 MB")


def test_the_twin_of_all_for_the_split_has_the_other_two_layers(tmp_path):
    section = split_section(opened(tmp_path, steps("prefix+spec", "all")), "all", "cold", None)
    assert section.unpaired is None
    assert section.lines[0].twin == "prefix+spec"
    assert layer_here(opened(tmp_path, steps("all")), "pd_split").arms == ("all",)
