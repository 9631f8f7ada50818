"""The effects table of the terminal, on runs whose gains are planted."""

import math
import random
from dataclasses import replace
from io import StringIO

import pandas as pd
from builders import frame_of
from planted import planted
from rich.console import Console

from labkit.cli.effects_view import effects_view, gains_view
from labkit.core.records import ChunkRecord

NO_CHUNKS = frame_of([], ChunkRecord)


def drawn(view: object) -> str:
    console = Console(width=160, record=True, file=StringIO())
    console.print(view)
    return console.export_text()


def line_of(text: str, *words: str) -> str:
    return next(line for line in text.splitlines() if all(word in line for word in words))


def test_each_layer_and_interaction_has_its_gain_interval_and_verdict():
    dice = random.Random(1)
    text = drawn(effects_view(frame_of(planted(tasks=6, noise=lambda: dice.gauss(0, 0.01))), NO_CHUNKS))
    prefix = line_of(text, "prefix ", "end to end")
    assert "2.0" in prefix
    assert "<0.001" in prefix
    assert "12/6" in prefix  # two turns of six tasks
    assert "better" in prefix
    assert "worse" in line_of(text, "pd ", "end to end")
    assert "prefix:pd:spec" in text
    assert "first token" in text
    assert "ITL" not in text  # not of the headline set


def test_what_cannot_be_told_is_a_dash_with_the_reason():
    text = drawn(effects_view(frame_of(planted(arms=("base", "prefix"), tasks=1, repeats=1)), NO_CHUNKS))
    prefix = line_of(text, "prefix ", "end to end")
    assert "too few to tell" in prefix
    assert prefix.count("–") == 3  # interval, p, and the smallest gain that it would show
    assert "too few to tell: one task and 1 repeat" in text
    assert "pd:spec" not in text
    assert "not measured: no value of pd, spec" in text


def test_a_width_beyond_all_reason_is_not_spelled_out():
    rows = planted(tasks=2, repeats=1)
    dice = random.Random(3)
    wild = [replace(row, t_end=row.t_end * math.exp(dice.gauss(0, 3))) for row in rows]
    text = drawn(effects_view(frame_of(wild), NO_CHUNKS))
    assert ">100x" in text
    assert max(map(len, text.splitlines())) <= 110


def test_arms_are_compared_with_base():
    dice = random.Random(2)
    rows = planted(arms=("base", "prefix"), tasks=5, noise=lambda: dice.gauss(0, 0.01))
    text = drawn(gains_view(frame_of(rows), NO_CHUNKS))
    assert "prefix" in line_of(text, "end to end")


def test_joules_have_a_gain_where_they_were_read():
    rows = frame_of(planted(arms=("base", "prefix"), tasks=5))
    watts = {"base": 300.0, "prefix": 100.0}
    read = pd.DataFrame(
        [{"arm": arm, "repeat": repeat, "joules": used} for arm, used in watts.items() for repeat in (0, 1)]
    )
    assert "3.00x" in line_of(drawn(gains_view(rows, NO_CHUNKS, read)), "joules")
    assert "joules" not in drawn(gains_view(rows, NO_CHUNKS))


def test_warm_passes_have_gains_of_their_own():
    cold = planted(arms=("base", "prefix"), gains={"prefix_caching": 2.0})
    warm = planted(arms=("base", "prefix"), gains={"prefix_caching": 4.0}, cache="warm")
    rows = frame_of([*cold, *warm])
    assert "2.00x" in line_of(drawn(gains_view(rows, NO_CHUNKS)), "end to end")
    assert "4.00x" in line_of(drawn(gains_view(rows, NO_CHUNKS, cache="warm")), "end to end")


def test_nothing_measured_is_no_table():
    empty = frame_of([])
    assert effects_view(empty, NO_CHUNKS) is None
    assert gains_view(empty, NO_CHUNKS) is None
