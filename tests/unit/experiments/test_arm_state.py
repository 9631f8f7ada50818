"""A toggle never lies: every state of an engine, from real processes and a real registry, as words."""

import dataclasses

import pytest

from labkit.core.arms import arm_named
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine
from labkit.engines.starting import this_process
from labkit.experiments.arm_state import Seen, busy_words, state_of

PROFILE = load_profile("cpu-smollm2")
GONE = dataclasses.replace(this_process(), created=1.0)


def plan_of(label: str, salted: bool = True):
    return make_plan(PROFILE, arm_named(label), salted=salted)


def engine(label: str, *, ready: bool = True, processes=None, owner=None, salted: bool = True) -> Engine:
    plan = plan_of(label, salted)
    running = tuple(dataclasses.replace(this_process(), role=spec.role) for spec in plan.layout)
    return Engine(
        id=f"e.{label}",
        plan=plan,
        ready=ready,
        owner=owner or this_process(),
        processes=running if processes is None else processes,
    )


def state(label: str, *engines: Engine, salted: bool = True, **seen):
    return state_of(plan_of(label, salted), 30.0, Seen(engines=engines, now=this_process().created + 12.2, **seen))


def test_nothing_is_up_is_cold_and_says_how_long_a_start_takes():
    assert (state("prefix").kind, state("prefix").words) == ("cold", "cold (starts in ~30 s)")


def test_an_engine_of_the_same_plan_is_warm():
    assert state("prefix", engine("prefix")).words == "warm"


@pytest.mark.parametrize("other", ["spec", "pd", "all"])
def test_an_engine_of_another_plan_does_not_make_an_arm_warm(other):
    assert state("prefix", engine(other)).kind == "cold"


def test_base_shares_the_engine_of_prefix_and_says_how():
    shared = state("base", engine("prefix"))
    assert shared.kind == "warm"
    assert "cache_salt" in shared.how
    assert state("prefix", engine("prefix")).how == ""


def test_base_by_flag_does_not_share():
    strict = state("base", engine("prefix", salted=False), salted=False)
    assert (strict.kind, strict.how) == ("cold", "")


def test_a_start_counts_its_seconds():
    assert state("prefix", engine("prefix", ready=False)).words == "starting (12 s of ~30 s)"


def test_a_held_engine_names_its_holder():
    assert state("prefix", engine("prefix"), held={"e.prefix": "run 7f3a"}).words == "busy: held by run 7f3a"


def test_a_run_of_arms_with_a_held_engine_would_fail():
    shared = [state(arm, engine("prefix"), held={"e.prefix": "run 7f3a"}) for arm in ("spec", "prefix")]
    assert busy_words(shared) == "prefix is busy: held by run 7f3a"
    assert busy_words(shared[:1]) == ""


def test_an_engine_whose_process_is_gone_is_not_warm():
    dead = engine("prefix", processes=(dataclasses.replace(GONE, role="engine"),))
    assert state("prefix", dead).kind == "cold"
    assert "dead" in state("prefix", dead).words


def test_a_refusal_is_told_in_the_engines_words_until_it_is_up():
    refused = {"prefix": "no block size 7"}
    assert state("prefix", refused=refused).words == "refused: no block size 7"
    assert state("prefix", engine("prefix"), refused=refused).kind == "warm"
    assert state("base", refused=refused).kind == "cold"


def test_a_start_that_is_not_registered_yet_is_a_start_already():
    assert state("prefix", warming={"prefix"}).words == "starting (of ~30 s)"
    assert state("prefix", engine("prefix"), warming={"prefix"}).words == "warm"
