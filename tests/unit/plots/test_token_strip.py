"""The strip lies as its rows say, tells which message a piece is of, and says when there is nothing; a bar adds up."""

from __future__ import annotations

import re

import pytest

from labkit.plots.theme import MODES, part_color
from labkit.plots.token_bar import token_bar_svg
from labkit.plots.token_strip import Piece, StripRow, token_strip_figure, token_strip_info

ROWS = (
    StripRow(turn=1, label="plan", pieces=(Piece("computed", 80, "system"), Piece("generated", 20, "reply"))),
    StripRow(
        turn=2,
        label="act",
        marked=True,
        pieces=(Piece("cached", 64, "system"), Piece("computed", 40, "user"), Piece("accepted", 6, "reply")),
    ),
)


def test_pieces_lie_one_after_the_other_in_their_row():
    figure = token_strip_figure(token_strip_info(ROWS, "prefix"))
    bars = {bar.name: bar for bar in figure.data}
    assert list(bars) == ["cached", "computed", "generated", "from drafts"]
    assert (bars["computed"].y, bars["computed"].base, bars["computed"].x) == ((0, 1), (0, 64), (80, 40))
    assert bars["from drafts"].base == (104,)
    assert [list(each) for each in bars["computed"].customdata] == [[1, "system"], [2, "user"]]
    assert list(figure.layout.yaxis.ticktext) == ["1 plan", "<b>▸ 2 act</b>"]


@pytest.mark.parametrize("mode", MODES)
def test_a_part_has_the_themes_colour(mode):
    for bar in token_strip_figure(token_strip_info(ROWS), mode).data:
        part = "accepted" if bar.name == "from drafts" else bar.name
        assert bar.marker.color == part_color(part, mode)


def test_the_caption_says_the_sums_and_n():
    caption = token_strip_info(ROWS, "prefix").caption
    assert caption.note == "Tokens of prompt and reply; prefix; n = 2 steps."
    assert "64 cached, 120 computed, 20 generated, 6 accepted from drafts tokens in 2 steps" in caption.alt


def test_without_a_counted_step_there_is_a_sentence():
    info = token_strip_info([StripRow(turn=1)])
    assert "No step has reported its tokens" in info.caption.empty
    assert not token_strip_figure(info).data


def test_a_bar_is_as_wide_as_its_tokens():
    svg = token_bar_svg([("cached", 30), ("computed", 10), ("unknown", 0)], "dark")
    assert [float(x) for x in re.findall(r'x="([\d.]+)%"', svg)] == [0, 75]
    assert [float(width) for width in re.findall(r' width="([\d.]+)%" height="\d+" fill', svg)] == [75, 25]
    assert part_color("cached", "dark") in svg
    assert token_bar_svg([("cached", 0)]) == ""
    assert token_bar_svg([]) == ""
