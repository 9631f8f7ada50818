"""What three runs say of a time that stands first or last, on the made-up run whose numbers are known."""

from __future__ import annotations

import pytest
from synthetic import frame, step, steps

from labkit.analysis.variants import variant_table
from labkit.core.errors import UnknownName
from labkit.experiments.lessons.timestamp import (
    CLEAN,
    FIRST,
    LAST,
    as_slow_as_base,
    checks_of,
    in_words,
    nothing_left,
    questions,
    repaired,
    variants_of,
)
from labkit.experiments.lessons.told import Unmeasured
from labkit.traffic.recording import load

NAME = "ranks-that-jump-live"


def broken(turns: int):
    """Nothing from the cache, and times as under base."""
    base = steps(("base",), turns=turns)
    return [*base, *(step("prefix", one.turn, cached_tokens=0, t_first_token=one.t_first_token) for one in base)]


def table(turns: int = 6, first=None, last=None):
    clean = steps(("base", "prefix"), turns=turns)
    return variant_table({CLEAN: frame(clean), FIRST: frame(first or broken(turns)), LAST: frame(last or clean)})


def test_nothing_is_left_when_the_time_stands_first():
    holds, saw = nothing_left(table())
    assert holds
    assert "the cache served 0 % of the prompt tokens" in saw
    assert "as recorded 75 % of the prompt tokens (an infinite cache: 75 %)" in saw
    assert "(n = 6 steps each)" in saw


def test_a_cache_that_serves_all_the_same_is_a_surprise():
    assert nothing_left(table(first=steps(("base", "prefix"), turns=6))).holds is False


def test_it_is_as_slow_as_base():
    holds, saw = as_slow_as_base(table())
    assert holds
    # base: 600 + 800 + ... + 1600 ms; as recorded 600 + 200 + 208 + 216 + 224 + 200
    assert saw == (
        "with the time first the first token came 1.00x as fast as under base (6.60 s against 6.60 s, added up over "
        "6 pairs), and as recorded the first token came 4.00x as fast as under base (1.65 s against 6.60 s, added up "
        "over 6 pairs)"
    )


@pytest.mark.parametrize("turns", [2, 4])
def test_few_pairs_tell_no_time(turns):
    assert as_slow_as_base(table(turns=turns)).holds is None


def test_without_base_no_time_is_told_and_rates_are():
    only = [row for row in steps(("base", "prefix"), turns=6) if row.arm == "prefix"]
    rows = variant_table({CLEAN: frame(only), FIRST: frame(only), LAST: frame(only)})
    told = as_slow_as_base(rows)
    assert told == (None, "base was not measured beside the requests as recorded and time first")
    assert isinstance(told.saw, Unmeasured)
    assert repaired(rows).holds


def test_base_beside_the_broken_one_alone_is_half_of_it():
    only = [row for row in steps(("base", "prefix"), turns=6) if row.arm == "prefix"]
    rows = variant_table({CLEAN: frame(only), FIRST: frame(broken(6)), LAST: frame(only)})
    assert as_slow_as_base(rows) == (None, "base was not measured beside the requests as recorded")


def test_a_cache_that_gains_nothing_as_recorded_shows_no_loss():
    rows = variant_table({name: frame(broken(6)) for name in (CLEAN, FIRST, LAST)})
    assert as_slow_as_base(rows).holds is False


def test_disturbed_runs_tell_no_time():
    told = as_slow_as_base(table(), "others kept the machine busy during run r1")
    assert told == (None, "others kept the machine busy during run r1, so no time is judged")
    assert isinstance(told.saw, Unmeasured)


def test_the_mend_is_held_against_the_recording():
    assert repaired(table()).holds
    assert repaired(table(last=broken(6))).holds is False
    assert "with the time last the cache served 0 %" in repaired(table(last=broken(6))).saw


def test_an_engine_that_told_no_cached_tokens_tells_nothing():
    silent = [step("prefix", turn, cached_tokens=None) for turn in range(1, 7)]
    assert nothing_left(table(first=silent)).holds is None
    assert repaired(table(last=silent)).holds is None


def test_each_variant_is_asked_for_as_a_file_that_holds_it(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path))
    variants = variants_of(NAME)
    asked = questions(variants, profile="cpu-smollm2", steps=3)
    assert list(asked) == [CLEAN, FIRST, LAST]
    for name, question in asked.items():
        assert (question["profile"], question["steps"], question["mode"]) == ("cpu-smollm2", 3, "pinned")
        assert load(tmp_path / "recordings" / f"{variants[name].header.name}.jsonl") == variants[name]
        assert question["recording"].startswith(str(tmp_path))


def test_what_the_doctor_says_names_the_place():
    said = in_words(checks_of(variants_of(NAME)[FIRST]))
    assert "Requests as sent: fail. ranks-that-jump-live-time-first: 15 of 15 do not extend the one before" in said
    assert "message 1 (system): a time or date that changes" in said
    assert "put what changes into the newest message" in said


def test_a_recording_that_is_not_there_is_named():
    with pytest.raises(UnknownName, match="no-such"):
        variants_of("no-such")
