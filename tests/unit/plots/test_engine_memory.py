"""The bars of memory: what is taken adds up, what does not fit is hatched, and the words say the same."""

from __future__ import annotations

import pytest

from labkit.plots.engine_memory import Taken, Wanted, engine_memory_figure, engine_memory_info
from labkit.plots.theme import MODES

GIB = 1 << 30
WANTED = (
    Wanted(arms=("base", "prefix"), needs=4 * GIB, there="up"),
    Wanted(arms=("spec",), needs=3 * GIB),
    Wanted(arms=("pd", "prefix+pd"), needs=8 * GIB),
)
INFO = engine_memory_info(16 * GIB, 6 * GIB, [Taken(name="ab12", arm="prefix", taken=4 * GIB)], WANTED)


def test_parts_add_up_to_all_memory():
    assert (INFO.used, INFO.other) == (10 * GIB, 6 * GIB)
    figure = engine_memory_figure(INFO)
    now = [bar.x[0] for bar in figure.data if bar.y[0] == "taken now"]
    assert now == [4, 6, 6]
    assert sum(now) == 16


@pytest.mark.parametrize("mode", MODES)
def test_what_does_not_fit_is_hatched_and_begins_where_the_taken_part_ends(mode):
    bars = {bar.y[0]: bar for bar in engine_memory_figure(INFO, mode).data if bar.y[0] != "taken now"}
    spec, split = (next(bar for row, bar in bars.items() if row.startswith(arm)) for arm in ("spec", "pd"))
    assert (spec.base[0], spec.x[0], spec.marker.pattern.shape) == (10, 3, "")
    assert (split.base[0], split.x[0], split.marker.pattern.shape) == (10, 8, "/")


def test_the_words_say_what_fits():
    assert INFO.caption.note.startswith("6.0 GiB of 16.0 GiB free; 1 engine in the fleet")
    assert INFO.caption.alt == "6.0 GiB of 16.0 GiB are free. fits: spec. does not fit: pd, prefix+pd"


def test_engines_that_share_pages_never_make_the_rest_negative():
    info = engine_memory_info(16 * GIB, 12 * GIB, [Taken(name="a", arm="all", taken=5 * GIB)], ())
    assert info.other == 0


def test_an_engine_that_is_gone_takes_nothing_and_an_unknown_machine_is_a_sentence():
    info = engine_memory_info(16 * GIB, 12 * GIB, [Taken(name="a", arm="all", taken=None)], ())
    assert info.other == 4 * GIB
    assert not engine_memory_figure(engine_memory_info(0, 0, [], ())).data
